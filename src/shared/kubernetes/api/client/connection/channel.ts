// The connections of one client made with one set of certificates: HTTP/2 where the server has it, else HTTP/1.1.
// Invariant: however many calls wait, one connection is being made at a time; a call never waits for a connection
// longer than it wants to wait itself.

import { unlessAborted } from "../../../../base/abort/unless-aborted.js";
import type { Clock, Timer } from "../../../../base/clock/clock.js";
import { abortReason } from "../../../../base/errors/thrown.js";
import { ApiConnectionError } from "../errors.js";
import { dial, type Dialed, type Target } from "./dial.js";
import type { Http1Sockets } from "./http1-sockets.js";
import type { Http2Session } from "./http2-session.js";
import { NotProcessedError, type Wire, type WireRequest, type WireResponse } from "./wire.js";

/** Limit for a server that closes every connection at once. */
const TRIES = 4;
/** Connections made while a call waits: others may have taken all streams of one. */
const OPENINGS = 10;

export class Channel implements Wire {
  private readonly sessions = new Set<Http2Session>();
  private http1: Http1Sockets | undefined;
  private opening: Promise<void> | undefined;
  private readonly end = new AbortController();
  private lastCall: Timer | undefined;

  constructor(
    private readonly target: Target,
    private readonly clock: Clock,
  ) {}

  async send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    let openings = 0;
    for (let left = TRIES; ;) {
      // No await between choice and use: another caller would take the same last stream.
      const wire = this.ready();
      if (wire === undefined) {
        if (++openings > OPENINGS) throw new Error("the server leaves every connection as soon as it is made");
        await this.opened(signal);
        continue;
      }
      try {
        return await wire.send(request, signal);
      } catch (error) {
        if (--left <= 0 || signal.aborted || !(error instanceof NotProcessedError)) throw error;
      }
    }
  }

  /** No more requests come; those under way have `graceMs`. */
  retire(graceMs: number, onEnd: () => void): void {
    for (const session of this.sessions) session.retire();
    this.http1?.retire();
    this.lastCall = this.clock.after(graceMs, () => {
      this.destroy(new ApiConnectionError("the connection was replaced by one with new credentials"));
      onEnd();
    });
  }

  /** Closes all connections and rejects the calls on them. */
  destroy(error: Error): void {
    this.lastCall?.cancel();
    this.end.abort(error);
    for (const session of this.sessions) session.destroy(error);
    this.http1?.destroy(error);
  }

  private ready(): Wire | undefined {
    if (this.end.signal.aborted) throw abortReason(this.end.signal);
    for (const session of this.sessions) if (session.isUsable) return session;
    return this.http1;
  }

  /** Waits for a connection more; it may be taken already. */
  private async opened(signal: AbortSignal): Promise<void> {
    this.opening ??= this.open().finally(() => (this.opening = undefined));
    await unlessAborted(this.opening, signal);
  }

  private async open(): Promise<void> {
    if (this.target.context === undefined) {
      await this.useHttp1(undefined);
      return;
    }
    const dialed = await dial(this.target, ["h2", "http/1.1"], this.clock, this.end.signal);
    if (dialed.protocol === "h2") await this.useHttp2(dialed);
    else await this.useHttp1(dialed);
  }

  private async useHttp2({ socket }: Dialed): Promise<void> {
    const { Http2Session } = await whileHeld(socket, import("./http2-session.js"));
    const session = new Http2Session(socket, this.target.server.origin, this.clock, () => {
      this.sessions.delete(session);
    });
    this.sessions.add(session);
    await session.isReady;
  }

  private async useHttp1(dialed: Dialed | undefined): Promise<void> {
    const loading = import("./http1-sockets.js");
    const { Http1Sockets } = dialed === undefined ? await loading : await whileHeld(dialed.socket, loading);
    const again = async () => (await dial(this.target, ["http/1.1"], this.clock, this.end.signal)).socket;
    const sockets = new Http1Sockets(this.target.server, again, () => {
      // The next connection negotiates HTTP/2 again.
      if (this.http1 === sockets) this.http1 = undefined;
    });
    if (dialed !== undefined) sockets.adopt(dialed.socket);
    this.http1 = sockets;
  }
}

/** Waits for the promise, with a listener on the socket's error event meanwhile. */
async function whileHeld<T>(socket: Dialed["socket"], promise: Promise<T>): Promise<T> {
  const hold = (): void => undefined;
  socket.on("error", hold);
  try {
    return await promise;
  } finally {
    socket.off("error", hold);
  }
}
