// The end of an HTTP/2 connection. `close` waits for its streams, which a client that takes no more bytes never lets end.
// Invariant: a connection that is to end ends when its streams do; streams that only wait for the client are cut after a
// grace. A stream that has nothing to say yet, as a follower of a quiet log, is left alone.
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Clock, Timer } from "../../../shared/clock/clock.js";
import { ownedBy } from "../owned.js";

export class Http2Connection {
  private readonly streams = new Set<ServerHttp2Stream>();
  private timer: Timer | undefined;

  constructor(
    private readonly session: ServerHttp2Session,
    private readonly clock: Clock,
    /** Between looks at streams that wait for the client, milliseconds. */
    private readonly graceMs: number,
    /** Without a byte either way until the connection is closed, milliseconds. */
    idleMs: number,
  ) {
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

  /** The streams that are open go on; no new ones are taken. */
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
