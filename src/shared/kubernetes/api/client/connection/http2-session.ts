// One HTTP/2 connection: carries all calls and watches in parallel. Invariant: a connection to a silent server is
// closed (PING, client-go's times), and one that the server closes (GOAWAY) takes no more requests.

import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../../../base/clock/clock.js";
import { errorCode } from "../../../../base/errors/error-code.js";
import { abortReason } from "../../../../base/errors/thrown.js";
import { FloodGuard, MAX_IDLE_BYTES } from "./flood-guard.js";
import { WireError } from "./wire-error.js";
import { NotProcessedError, type Wire, type WireRequest, type WireResponse } from "./wire.js";

const PING_AFTER_MS = 30_000;
const PING_ANSWER_MS = 15_000;
/** In between, a flood has the time of the thread that others leave. */
const FLOOD_CHECK_MS = 1000;
/** One stream may have this much unread; together they may have far more, so that none can stop the others. */
const STREAM_WINDOW = 1024 * 1024;
const SESSION_WINDOW = 1024 * 1024 * 1024;
/** MiB; Node refuses new streams beyond it, 10 by default. */
const SESSION_MEMORY = 256;
/** For a server that does not report its limit. */
const STREAMS = 100;

const GONE = new Set(["ERR_HTTP2_INVALID_SESSION", "ERR_HTTP2_GOAWAY_SESSION", "ERR_HTTP2_OUT_OF_STREAMS"]);

export class Http2Session implements Wire {
  /**
   * Resolves when the server has sent its stream limit: more streams would wait unseen in the library. Rejects on
   * close.
   */
  readonly isReady: Promise<void>;
  private hasSettings = false;
  private readonly session: ClientHttp2Session;
  private readonly pings: Timer;
  private readonly checks: Timer;
  private waiting: Timer | undefined;
  private streams = 0;
  private readonly flood: FloodGuard;
  private going = false;
  private failure: Error | undefined;

  constructor(
    private readonly socket: Socket,
    origin: string,
    private readonly clock: Clock,
    onGone: () => void,
  ) {
    const session = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
      maxSessionMemory: SESSION_MEMORY,
    });
    this.session = session;
    session.setLocalWindowSize(SESSION_WINDOW);
    session.on("error", (error: Error) => (this.failure ??= error));
    this.isReady = new Promise((resolve, reject) => {
      session.once("remoteSettings", () => {
        this.hasSettings = true;
        resolve();
      });
      session.once("close", () => {
        reject(this.failure ?? new Error("the connection was closed before it was ready"));
      });
    });
    this.isReady.catch(() => undefined);
    session.on("goaway", () => (this.going = true));
    session.on("close", () => {
      this.going = true;
      this.pings.cancel();
      this.checks.cancel();
      this.waiting?.cancel();
      onGone();
    });
    this.pings = clock.every(PING_AFTER_MS, () => this.ping());
    // The window of the session is so large that the library counts half a GiB before it begins again.
    const dataBytes = (): number => session.state.effectiveRecvDataLength ?? 0;
    this.flood = new FloodGuard({ receivedBytes: () => socket.bytesRead, dataBytes });
    this.checks = clock.every(FLOOD_CHECK_MS, () => this.checkFlood());
  }

  get isUsable(): boolean {
    const { session } = this;
    if (!this.hasSettings || this.going || session.closed || session.destroyed) return false;
    return this.streams < Math.max(1, session.remoteSettings.maxConcurrentStreams ?? STREAMS);
  }

  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body } = request;
      const stream = this.openStream({ ...headers, ":method": method, ":path": path }, body === undefined);
      this.streams += 1;
      let failure: Error | undefined;
      const onAbort = (): void => {
        failure = abortReason(signal);
        stream.close(constants.NGHTTP2_CANCEL);
        stream.destroy(failure);
      };
      stream.on("response", (given) => {
        this.flood.responded();
        const { ":status": status = 0, ...rest } = given;
        resolve({ status, headers: rest, body: stream });
      });
      // Stays for good: reading the body also reports errors that come after the start of the response.
      stream.on("error", (error: Error) => (failure ??= error));
      stream.on("close", () => {
        this.streams -= 1;
        signal.removeEventListener("abort", onAbort);
        // Does nothing once there was a response.
        reject(this.whyClosed(stream, failure));
      });
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      else if (body !== undefined) stream.end(body);
    });
  }

  /** Accepts no more requests and ends with the last stream. */
  retire(): void {
    this.going = true;
    if (!this.session.destroyed) this.session.close();
  }

  destroy(error: Error): void {
    this.going = true;
    this.failure ??= error;
    this.session.destroy(error);
    this.socket.destroy();
  }

  private openStream(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    try {
      return this.session.request(headers, { endStream });
    } catch (error) {
      // The connection went away since it was chosen.
      if (GONE.has(errorCode(error) ?? "")) throw new NotProcessedError("the connection is closed", { cause: error });
      throw error;
    }
  }

  private whyClosed(stream: ClientHttp2Stream, failure: Error | undefined): Error {
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
      return new NotProcessedError("the server refused the request before looking at it");
    }
    return failure ?? this.failure ?? new Error("the connection was closed before the response");
  }

  private checkFlood(): void {
    if (this.session.destroyed || !this.flood.isFlooded(FLOOD_CHECK_MS / 1000)) return;
    this.destroy(new WireError(`the server sent ${MAX_IDLE_BYTES / 1024} KiB that bring no call further`));
  }

  private ping(): void {
    if (this.waiting !== undefined || this.session.destroyed) return;
    this.waiting = this.clock.after(PING_ANSWER_MS, () => {
      this.destroy(new WireError(`no response to a PING within ${PING_ANSWER_MS / 1000} s`));
    });
    this.session.ping(() => {
      this.waiting?.cancel();
      this.waiting = undefined;
    });
  }
}
