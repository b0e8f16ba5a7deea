// A connection to a node plugin's socket. Loading this file loads gRPC.
// Invariant: every call has a deadline and returns or fails. The next call reaches a restarted plugin at once. A
// connection takes microseconds, and a back-off would delay a pod.

import { Client, connectivityState, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { Scope } from "../../base/abort/scope.js";
import { systemClock, type Clock, type Timer } from "../../base/clock/clock.js";
import { deadlineIn } from "../../base/clock/durations.js";
import { plainDetails } from "../../base/errors/grpc-details.js";
import { messageOf } from "../../base/errors/thrown.js";
import { faultPoint } from "../../base/faults/fault-points.js";
import { boundedMessage } from "../bounded-reader.js";
import { PluginCallError, STATUS } from "./call-error.js";

/** Bytes of the response to one call: the limit of gRPC in Go, upstream's. The kubelet decodes it in one piece. */
export const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;

const OPTIONS = {
  "grpc.max_receive_message_length": MAX_RESPONSE_BYTES,
  "grpc.default_authority": "localhost",
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_channelz": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1000,
};

/** A generated method definition, as far as a caller needs it; of a stream too. */
export interface UnaryMethod<Request, Response> {
  readonly path: string;
  requestSerialize(value: Request): Buffer;
  responseDeserialize(value: Buffer): Response;
}

export interface PluginCallOptions {
  /** Milliseconds, connecting included. */
  timeoutMs: number;
  /** Retries a socket without a server until the deadline. */
  waitForReady?: boolean;
  /** Bytes of a longer response fail the call; default MAX_RESPONSE_BYTES. */
  maxBytes?: number;
  signal?: AbortSignal;
}

/** Fields of the response to one call, at every depth. Decoding so many takes some tens of milliseconds. */
const MAX_FIELDS = 200_000;
/**
 * A response that names one thing: what a plugin, a node or a volume is. Its texts go to objects of the API, events and
 * logs.
 */
export const SMALL_RESPONSE_BYTES = 64 * 1024;

function bounded(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes;
  throw new Error(`the response has ${bytes.length} bytes, and the kubelet reads at most ${maxBytes}`);
}

export class PluginConnection implements Disposable {
  private client: Client | undefined;
  private closed = false;
  /** Set while the connection is watched. */
  private onChange: ((connected: boolean) => void) | undefined;

  constructor(
    readonly socket: string,
    private readonly clock: Clock,
  ) {}

  /** @throws PluginCallError for every fault */
  call<Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    { timeoutMs, waitForReady = false, maxBytes = MAX_RESPONSE_BYTES, signal }: PluginCallOptions,
  ): Promise<Response> {
    const name = method.path.slice(method.path.lastIndexOf("/") + 1);
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true || this.closed) {
        const details = this.closed ? "the connection has been closed" : `given up: ${String(signal?.reason)}`;
        reject(new PluginCallError(name, this.socket, STATUS.CANCELLED, details));
        return;
      }
      if (!(timeoutMs >= 0)) {
        const details = `a deadline of ${timeoutMs} ms can't be kept`;
        reject(new PluginCallError(name, this.socket, STATUS.INVALID_ARGUMENT, details));
        return;
      }
      const call = this.acquire().makeUnaryRequest<Request, Response>(
        method.path,
        (value) => method.requestSerialize(value),
        (bytes) => method.responseDeserialize(boundedMessage(bounded(bytes, maxBytes), MAX_FIELDS)),
        request,
        new Metadata({ waitForReady }),
        { deadline: deadlineIn(timeoutMs, systemClock) },
        (error, reply) => {
          // A callback that throws must not leave the call without an end.
          try {
            faultPoint("plugin-reply");
            signal?.removeEventListener("abort", onAbort);
            if (error !== null) reject(this.failed(name, error));
            else if (reply === undefined) reject(new PluginCallError(name, this.socket, 13, "an empty response"));
            else resolve(reply);
          } catch (defect) {
            reject(this.broken(name, defect));
          }
        },
      );
      const onAbort = (): void => call.cancel();
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /**
   * A stream of answers, for as long as the plugin likes: the one kind of call without a deadline. Resolves when the
   * plugin ends it. Each message counts; `gapMs` after one, the next is read, and until then the plugin has to wait.
   * @throws PluginCallError, also when the signal ended it
   */
  stream<Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    onMessage: (message: Response) => void,
    signal: AbortSignal,
    gapMs = 0,
  ): Promise<void> {
    const name = method.path.slice(method.path.lastIndexOf("/") + 1);
    return new Promise((resolve, reject) => {
      if (signal.aborted || this.closed) {
        reject(new PluginCallError(name, this.socket, STATUS.CANCELLED, "the connection has been closed"));
        return;
      }
      // Decoded when its turn comes: gRPC keeps sixteen messages ahead, and objects take several times as much memory.
      const call = this.acquire().makeServerStreamRequest<Request, Buffer>(
        method.path,
        (value) => method.requestSerialize(value),
        (bytes) => bytes,
        request,
        new Metadata(),
      );
      const onAbort = (): void => call.cancel();
      signal.addEventListener("abort", onAbort, { once: true });
      let gap: Timer | undefined;
      const settle = (done: () => void): void => {
        signal.removeEventListener("abort", onAbort);
        gap?.cancel();
        done();
      };
      call.on("data", (message: Buffer) => {
        try {
          faultPoint("plugin-stream");
          if (gapMs > 0) {
            call.pause();
            gap = this.clock.after(gapMs, () => call.resume());
          }
          onMessage(method.responseDeserialize(message));
        } catch (defect) {
          settle(() => reject(this.broken(name, defect)));
          call.cancel();
        }
      });
      call.on("error", (error: ServiceError) => settle(() => reject(this.failed(name, error))));
      call.on("end", () => settle(resolve));
    });
  }

  /**
   * A stream of which only the newest message counts. A message that comes while an earlier one is processed replaces
   * it, undecoded: a plugin that floods costs what the processing of one message costs per `gapMs`. Resolves when the
   * plugin ends the stream.
   * @throws PluginCallError; or what `take` rejects with, which ends the stream
   */
  async newest<Request>(
    method: Pick<UnaryMethod<Request, unknown>, "path" | "requestSerialize">,
    request: Request,
    { gapMs, take }: { gapMs: number; take: (bytes: Buffer, signal: AbortSignal) => Promise<void> },
    signal: AbortSignal,
  ): Promise<void> {
    using scope = new Scope(signal);
    let waiting: Buffer | undefined;
    let failure: { readonly error: unknown } | undefined;
    const work = async (): Promise<void> => {
      while (waiting !== undefined && !scope.signal.aborted) {
        const bytes = waiting;
        waiting = undefined;
        await take(bytes, scope.signal);
        await this.clock.sleep(gapMs, scope.signal);
      }
    };
    let working: Promise<void> | undefined;
    const onMessage = (bytes: Buffer): void => {
      waiting = bytes;
      working ??= work()
        .catch((error: unknown) => {
          if (scope.signal.aborted) return;
          failure = { error };
          scope.abort(new Error("a message of the stream is refused"));
        })
        .finally(() => (working = undefined));
    };
    try {
      const { path, requestSerialize } = method;
      const raw = { path, requestSerialize, responseDeserialize: (bytes: Buffer): Buffer => bytes };
      await this.stream(raw, request, onMessage, scope.signal);
    } catch (error) {
      if (failure === undefined) throw error;
    } finally {
      scope.abort(new Error("the stream has ended"));
      await working;
    }
    if (failure !== undefined) throw failure.error;
  }

  /**
   * Keeps a connection open, also without calls, and reports when it is made and when it is lost. A lost connection is
   * tried again until it is made. Ends when the connection is closed; reports nothing after that.
   */
  watch(onChange: (connected: boolean) => void): void {
    const client = this.acquire();
    this.onChange = onChange;
    this.follow(client);
  }

  [Symbol.dispose](): void {
    this.closed = true;
    this.client?.close();
  }

  private failed(method: string, error: ServiceError): PluginCallError {
    return new PluginCallError(method, this.socket, error.code, plainDetails(error.details), { cause: error });
  }

  /** The kubelet's own handler of the response threw. */
  private broken(method: string, defect: unknown): PluginCallError {
    const details = `the response could not be handled: ${messageOf(defect)}`;
    return new PluginCallError(method, this.socket, STATUS.INTERNAL, details, { cause: defect });
  }

  private acquire(): Client {
    if (this.client?.getChannel().getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE) {
      // Nothing is in flight on a channel in back-off.
      const former = this.client;
      this.client = undefined;
      former.close();
    }
    if (this.client === undefined) {
      this.client = new Client(`unix://${this.socket}`, credentials.createInsecure(), OPTIONS);
      if (this.onChange !== undefined) this.follow(this.client);
    }
    return this.client;
  }

  /** Follows the channel of this client until another replaces it. */
  private follow(client: Client): void {
    const channel = client.getChannel();
    let connected: boolean | undefined;
    const next = (): void => {
      if (this.closed || this.client !== client) return;
      channel.getConnectivityState(true); // An idle channel connects only when asked.
      const state = channel.getConnectivityState(false);
      const now = state === connectivityState.READY;
      if (now !== connected) this.onChange?.(now);
      connected = now;
      channel.watchConnectivityState(state, Infinity, next);
    };
    next();
  }
}
