// Closes an HTTP/2 connection. `close` waits for its streams, and a client that stops reading never ends them.
// Invariant: a closing connection closes when its streams have ended; streams that wait only for the client are reset
// after a grace period. A stream without data, for example a follower of an idle log, is not reset.

import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { ownedBy } from "./owned.js";

/** The socket's property that holds its HTTP/2 connection. HTTP/2's proxy objects for the socket have it, too. */
const CONNECTION = Symbol("nodelet.server.http2");

/** @param socket of a request. @returns undefined for HTTP/1.1 */
export function http2ConnectionOf(socket: object): Http2Connection | undefined {
  return (socket as { [CONNECTION]?: Http2Connection })[CONNECTION];
}

export class Http2Connection {
  private readonly streams = new Set<ServerHttp2Stream>();
  private timer: Timer | undefined;
  private allowed = 0;

  constructor(
    private readonly session: ServerHttp2Session,
    private readonly clock: Clock,
    /** Interval between two checks of streams that wait for the client, milliseconds. */
    private readonly graceMs: number,
    /** Without a byte either way until the connection is closed, milliseconds. */
    idleMs: number,
  ) {
    Object.assign(session.socket, { [CONNECTION]: this });
    session.on(
      "stream",
      ownedBy(session, (stream: ServerHttp2Stream) => {
        this.streams.add(stream);
        stream.once("close", () => this.streams.delete(stream));
      }),
    );
    session.once("close", () => this.timer?.cancel());
    session.setTimeout(
      idleMs,
      ownedBy(session, () => this.close()),
    );
  }

  /** Its client may have this many requests in progress. */
  allowStreams(maxConcurrentStreams: number): void {
    if (this.allowed === maxConcurrentStreams || this.session.closed || this.session.destroyed) return;
    this.allowed = maxConcurrentStreams;
    this.session.settings({ maxConcurrentStreams });
  }

  /** Open streams continue; new ones are refused. */
  close(): void {
    if (this.timer !== undefined || this.session.destroyed) return;
    this.session.close();
    let blocked = this.blocked();
    this.timer = this.clock.every(
      this.graceMs,
      ownedBy(this.session, () => {
        const still = this.blocked().filter((stream) => blocked.includes(stream));
        for (const stream of still) stream.destroy();
        blocked = this.blocked();
        if (this.streams.size === 0) this.session.destroy();
      }),
    );
  }

  private blocked(): ServerHttp2Stream[] {
    return [...this.streams].filter(({ writableLength, writableEnded }) => writableLength > 0 || writableEnded);
  }
}
