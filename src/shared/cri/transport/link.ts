// One HTTP/2 connection to the runtime's socket. A link that is lost stays lost: the next call gets another.
// Invariant: it keeps the process alive only while calls are under way; its socket is closed on every way out.
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import { createConnection, type Socket } from "node:net";
import { CallFailedError } from "./status.js";

/** One round trip per 64 KiB (the HTTP/2 default) would slow large lists down. */
const WINDOW_BYTES = 1024 * 1024;
/** Stream ids end at 2^31, every other one is a client's: a link is replaced long before. */
const MOST_CALLS = 2 ** 29;

export class Link {
  private readonly socket: Socket;
  private readonly session: ClientHttp2Session;
  /** The runtime's settings have arrived: a server of HTTP/2 is there. */
  private answered = false;
  private cause: Error | undefined;
  private made = 0;
  private underWay = 0;

  constructor(path: string) {
    this.socket = createConnection(path);
    this.socket.on("error", (error) => this.onError(error));
    // The session notices the end of its connection only by "close".
    this.socket.once("end", () => this.socket.destroy());
    this.session = connect("http://localhost", {
      createConnection: () => this.socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      // Replies have a limit of their own; a call must not fail because others are large.
      maxSessionMemory: Number.MAX_SAFE_INTEGER,
    });
    this.session.on("error", (error: Error) => this.onError(error));
    this.session.once("connect", () => this.session.setLocalWindowSize(WINDOW_BYTES));
    this.session.once("remoteSettings", () => {
      this.answered = true;
    });
    this.session.unref();
  }

  /** It may still be connecting. */
  get isUsable(): boolean {
    return !this.isLost && !this.session.closed && this.made < MOST_CALLS;
  }

  get isReady(): boolean {
    return this.answered && this.isUsable;
  }

  get isLost(): boolean {
    return this.session.destroyed || this.socket.destroyed;
  }

  /** For a call that the loss of the link ended. */
  lossFailure(): CallFailedError {
    return new CallFailedError("UNAVAILABLE", this.cause?.message ?? "the connection to the runtime was lost");
  }

  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.session.request(headers);
    this.made++;
    if (this.underWay++ === 0) this.session.ref();
    stream.once("close", () => {
      if (--this.underWay === 0) this.session.unref();
    });
    return stream;
  }

  close(): void {
    this.session.destroy();
  }

  /** The first error is the cause, those after it are consequences. */
  private onError(error: Error): void {
    this.cause ??= error;
  }
}
