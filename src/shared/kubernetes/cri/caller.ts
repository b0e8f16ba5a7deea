// Makes CRI calls: waits for a slot, sends, watches abort and connection, checks the reply, reports the call.
// Invariants: every failure leaves as a CriError; every timer, listener and slot of a call is given back when it ends.

import type { CallOptions as GrpcOptions, Client, Metadata } from "@grpc/grpc-js";
import { systemClock, type Clock, type Timer } from "../../base/clock/clock.js";
import { deadlineIn } from "../../base/clock/durations.js";
import { asError } from "../../base/errors/thrown.js";
import { faultPoint } from "../../base/faults/fault-points.js";
import type { OpenSpan } from "../../telemetry/tracing/tracing.js";
import { aboutAttempt, attemptError, remainingMs, type Attempt } from "./attempt.js";
import { decodeReply, partDecoder } from "./bounded-reply.js";
import { callPlaces, CallSlot, type CallPlaces, type IdleBounds } from "./call-slot.js";
import { metadataOf, streamSpan, tracedCall } from "./call-span.js";
import type { CriChannelKind } from "./channel-kind.js";
import { CriChannel } from "./channel.js";
import { deadlineFor, finishMsOf, timeoutSecondsOf, withBoundedTimeout } from "./deadlines.js";
import { CriBadReplyError, criError, type CriError } from "./errors.js";
import type { MessageFns } from "./gen/runtime.v1.js";
import { QueueTimeoutError } from "./limiter.js";
import type { ListsByPartsOptions } from "./lists-by-parts.js";
import type { ReplyCheck } from "./reply-checks.js";
import { subjectOf } from "./request-subject.js";
import {
  isCriVerb,
  OPERATIONS,
  verbOfPath,
  type CallOptions,
  type CriVerb,
  type MethodDefinition,
  type StreamCall,
  type UnaryCall,
} from "./verbs.js";

/** One finished call, for metrics and logs. */
interface CallRecord {
  verb: CriVerb;
  /** operation_type label of kubelet_runtime_operations_total. */
  operation: string;
  /** From sending to the response, milliseconds; for a stream its whole duration. 0 if it was never sent. */
  durationMs: number;
  /** Time before that in the queue for a free slot, milliseconds. */
  queuedMs: number;
  error?: CriError;
}

export interface CriClientOptions extends ListsByPartsOptions {
  /** "unix:///run/containerd/containerd.sock"; a bare absolute path is accepted (parseEndpoint warns). */
  endpoint: string;
  /** Default deadline, milliseconds; see deadlines.ts for the verbs that differ. */
  runtimeRequestTimeoutMs: number;
  onCall?: (record: CallRecord) => void;
  /** Flag --cri-channel; "own" by default. */
  channel?: CriChannelKind;
  /** The runtime broke HTTP/2: this client uses the channel of grpc-js from now on. At most once. */
  onFallback?: (error: Error, endpoint: string) => void;
  /**
   * Most calls of a verb that begin at once (LONG_CALL_MS); no entry means no limit. A verb's own deadline counts from
   * sending: the runtime is not slow because many calls wait here.
   */
  concurrency?: Partial<Record<CriVerb, number | IdleBounds>>;
  /** Lists come through streams where the runtime has them (gate CRIListStreaming); no by default. */
  listStreaming?: boolean;
  clock: Clock;
}

/** Time limit for a connection before the calls that need it fail. */
const CONNECT_TIMEOUT_MS = 5000;

/** Time after its deadline at which a call fails although gRPC has not ended it. */
const OVERDUE_MS = 5000;

export class Caller {
  readonly #options: CriClientOptions;
  readonly #clock: Clock;
  readonly #channel: CriChannel;
  readonly #limiters = new Map<CriVerb, CallPlaces>();

  constructor(options: CriClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    const { endpoint, channel = "own", onFallback } = options;
    this.#channel = new CriChannel(endpoint, channel, (error) => onFallback?.(error, endpoint));
    for (const [verb, limit] of Object.entries(options.concurrency ?? {})) {
      if (!isCriVerb(verb)) throw new Error(`cannot limit "${verb}": CRI v1 has no such call`);
      this.#limiters.set(verb, callPlaces(limit, options.clock));
    }
  }

  close(): void {
    for (const { watch } of this.#limiters.values()) watch?.stop();
    this.#channel.close();
  }

  unary<Request extends object, Response>(
    method: MethodDefinition<Request, Response, false>,
    message: MessageFns<Request>,
    check?: ReplyCheck<Response>,
  ): UnaryCall<Request, Response> {
    const verb = verbOfPath(method.path);
    return async (partial, options) => {
      const request = withBoundedTimeout(message.fromPartial(partial));
      const attempt = this.#attempt(verb, request, options);
      const slot = new CallSlot(this.#clock, this.#limiters.get(verb));
      let failure: CriError | undefined;
      try {
        await slot.acquire(attempt);
        const send = (metadata: Metadata): Promise<Response> => this.#send(method, request, metadata, attempt, slot);
        const reply = await tracedCall(method.path, send);
        const wrong = check?.(reply);
        if (wrong !== undefined) throw new CriBadReplyError({ ...aboutAttempt(attempt), details: wrong });
        return reply;
      } catch (error) {
        failure = attemptError(attempt, error);
        throw failure;
      } finally {
        this.#finish(verb, slot, failure);
      }
    };
  }

  stream<Request extends object, Response>(
    method: MethodDefinition<Request, Response, true>,
    message: MessageFns<Request>,
  ): StreamCall<Request, Response> {
    const verb = verbOfPath(method.path);
    return (partial, options) => this.#read(method, verb, message.fromPartial(partial), options);
  }

  #send<Request, Response>(
    method: MethodDefinition<Request, Response, false>,
    request: Request,
    metadata: Metadata,
    attempt: Attempt,
    slot: CallSlot,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const client = this.#open(attempt);
      const call = client.makeUnaryRequest<Request, Response>(
        method.path,
        (value) => method.requestSerialize(value),
        (bytes) => decodeReply(method, bytes, attempt),
        request,
        metadata,
        this.#grpcOptions(attempt, slot),
        (error, reply) => {
          try {
            faultPoint("cri-reply");
            settled();
            if (error !== null) reject(error);
            else if (reply === undefined) reject(new Error("the runtime sent no reply"));
            else resolve(reply);
          } catch (defect) {
            settled();
            reject(asError(defect));
          }
        },
      );
      // grpc-js never settles a call after an internal error. Such a call ends here, at its deadline or on abort.
      const overdue = this.#overdue(attempt, slot, () => {
        settled();
        call.cancel();
        reject(new QueueTimeoutError("the gRPC client did not end the call at its deadline"));
      });
      const stopWatching = this.#watch(attempt, call, () => {
        settled();
        reject(attempt.signal?.reason instanceof Error ? attempt.signal.reason : new Error("aborted"));
      });
      const settled = (): void => {
        stopWatching();
        overdue?.cancel();
      };
    });
  }

  async *#read<Request extends object, Response>(
    method: MethodDefinition<Request, Response, true>,
    verb: CriVerb,
    request: Request,
    options: CallOptions | undefined,
  ): AsyncGenerator<Response> {
    const attempt = this.#attempt(verb, request, options);
    const slot = new CallSlot(this.#clock, this.#limiters.get(attempt.verb));
    let failure: CriError | undefined;
    let span: OpenSpan | undefined;
    try {
      await slot.acquire(attempt);
      span = streamSpan(method.path);
      const call = this.#open(attempt).makeServerStreamRequest<Request, Response>(
        method.path,
        (value) => method.requestSerialize(value),
        partDecoder(method, attempt),
        request,
        metadataOf(span),
        this.#grpcOptions(attempt, slot),
      );
      call.on("error", () => undefined); // the iterator throws it; errors after the last read are ignored
      const stopWatching = this.#watch(attempt, call);
      try {
        for await (const item of call as AsyncIterable<Response>) {
          faultPoint("cri-stream");
          yield item;
        }
      } finally {
        stopWatching();
        call.cancel();
      }
    } catch (error) {
      failure = attemptError(attempt, error);
      span?.fail(failure);
      throw failure;
    } finally {
      span?.end();
      this.#finish(attempt.verb, slot, failure);
    }
  }

  #attempt(verb: CriVerb, request: object, options: CallOptions | undefined): Attempt {
    const deadlineMs = deadlineFor(verb, timeoutSecondsOf(request), this.#options.runtimeRequestTimeoutMs);
    const { signal, urgent, onSent, deadlineMs: totalMs } = options ?? {};
    const { endpoint } = this.#options;
    const limitMs = totalMs ?? deadlineMs;
    if (limitMs !== undefined && !(limitMs >= 0)) {
      const about = { verb, subject: subjectOf(request), endpoint };
      throw criError({ ...about, code: "INVALID_ARGUMENT", details: `a deadline of ${limitMs} ms can't be kept` });
    }
    return { verb, request, endpoint, signal, deadlineMs, totalMs, urgent, onSent };
  }

  /** The client to send with. Nothing may await between this and #watch, or an abort could slip through. */
  #open(attempt: Attempt): Client {
    attempt.signal?.throwIfAborted();
    if (this.#channel.closed) {
      throw criError({ ...aboutAttempt(attempt), code: "CANCELLED", details: "this CRI client has been closed" });
    }
    return this.#channel.acquire();
  }

  #grpcOptions(attempt: Attempt, slot: CallSlot): GrpcOptions {
    const ms = remainingMs(attempt, slot.queuedMs);
    // gRPC compares it with the machine's own clock.
    return ms === undefined ? {} : { deadline: deadlineIn(ms, systemClock) };
  }

  /** Undefined for a call without a deadline. */
  #overdue(attempt: Attempt, slot: CallSlot, onOverdue: () => void): Timer | undefined {
    const ms = remainingMs(attempt, slot.queuedMs);
    return ms === undefined ? undefined : this.#clock.after(ms + OVERDUE_MS, onOverdue);
  }

  /**
   * Cancels the call if its connection does not come up. On abort, cancels it after its time to finish, and then calls
   * `onAborted`. Returns the function that ends the watch.
   */
  #watch(attempt: Attempt, call: { cancel(): void }, onAborted: () => void = () => undefined): () => void {
    const { signal, verb } = attempt;
    let finish: Timer | undefined;
    const giveUp = (reason: NonNullable<Attempt["gaveUp"]>): void => {
      attempt.gaveUp ??= reason;
      call.cancel();
    };
    const cancel = (): void => {
      giveUp({ code: "CANCELLED", details: `given up: ${String(signal?.reason)}` });
      onAborted();
    };
    const onAbort = (): void => {
      const ms = finishMsOf(verb);
      if (ms === 0) cancel();
      else finish = this.#clock.after(ms, cancel);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    const timer = this.#channel.disconnected
      ? this.#clock.after(CONNECT_TIMEOUT_MS, () => {
          if (!this.#channel.disconnected) return;
          const details = `the socket takes connections, but no response came within ${CONNECT_TIMEOUT_MS} ms`;
          giveUp({ code: "UNAVAILABLE", details });
        })
      : undefined;
    return () => {
      timer?.cancel();
      finish?.cancel();
      signal?.removeEventListener("abort", onAbort);
    };
  }

  #finish(verb: CriVerb, slot: CallSlot, error: CriError | undefined): void {
    slot.end();
    const { queuedMs, durationMs } = slot;
    const record: CallRecord = { verb, operation: OPERATIONS[verb], durationMs, queuedMs };
    this.#options.onCall?.(error === undefined ? record : { ...record, error });
  }
}
