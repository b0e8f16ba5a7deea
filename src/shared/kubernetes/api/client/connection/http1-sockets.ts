// Keep-alive HTTP/1.1, for servers or proxies without HTTP/2, and for plain http://.

import { Agent, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { asError, abortReason } from "../../../../base/errors/thrown.js";
import { WireError } from "./wire-error.js";
import { NotProcessedError, type Wire, type WireRequest, type WireResponse } from "./wire.js";

type OnSocket = (error: Error | null, socket?: Duplex) => void;

/** An HTTP agent whose connections come from elsewhere. */
class DialingAgent extends Agent {
  constructor(private readonly dial: () => Promise<Socket>) {
    super({ keepAlive: true, maxFreeSockets: 8, scheduling: "lifo" });
  }
  override createConnection(_options: unknown, onSocket: OnSocket): undefined {
    this.dial().then(
      (socket) => onSocket(null, socket),
      (error: unknown) => onSocket(asError(error)),
    );
  }
  destroyIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}

/** Interim responses (1xx) to one request; the API server sends none. */
const MAX_INTERIM = 64;

/** Errors of a kept connection that the server closed. */
const STALE = new Set(["ECONNRESET", "EPIPE"]);

export class Http1Sockets implements Wire {
  private readonly agent: DialingAgent;
  private readonly sockets = new Set<Socket>();
  private spare: Socket | undefined;
  private closed: Error | undefined;

  constructor(
    private readonly server: URL,
    private readonly dial: () => Promise<Socket>,
    /** The last connection was closed. */
    private readonly onGone: () => void,
  ) {
    this.agent = new DialingAgent(() => this.next());
  }

  /** A connection that is there already. */
  adopt(socket: Socket): void {
    this.keep(socket);
    this.spare = socket;
  }

  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const { method, path, headers, body } = request;
      const { agent } = this;
      const length = body === undefined ? {} : { "content-length": String(body.length) };
      const ask = httpRequest({ method, path, agent, headers: { host: this.server.host, ...headers, ...length } });
      const onAbort = (): void => {
        ask.destroy(abortReason(signal));
      };
      const done = (): void => signal.removeEventListener("abort", onAbort);
      ask.on("response", (answer) => {
        answer.once("close", done);
        // This listener stays: a reader of the body gets the error from the stream, and an abandoned body needs none.
        answer.on("error", () => undefined);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer });
      });
      let interim = 0;
      ask.on("information", () => {
        if (++interim > MAX_INTERIM) ask.destroy(new WireError(`the server sent ${interim} interim responses`));
      });
      ask.on("error", (error) => {
        done();
        // The server had ended the connection before it saw the request; only what changes nothing may be sent again.
        const isStale = ask.reusedSocket && method === "GET" && "code" in error && STALE.has(String(error.code));
        reject(isStale ? new NotProcessedError(error.message, { cause: error }) : error);
      });
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      ask.end(body);
    });
  }

  /** Ends idle connections now. A connection in use ends with its request. */
  retire(): void {
    this.agent.destroyIdle();
    // A released socket is not kept.
    this.agent.maxFreeSockets = 0;
  }

  destroy(error: Error): void {
    this.closed = error;
    for (const socket of this.sockets) socket.destroy(error);
    this.agent.destroy();
  }

  private async next(): Promise<Socket> {
    if (this.closed !== undefined) throw this.closed;
    const { spare } = this;
    this.spare = undefined;
    if (spare !== undefined && !spare.destroyed) return spare;
    const socket = await this.dial();
    this.keep(socket);
    return socket;
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    // Beside the HTTP agent's own listener: an idle connection may fail.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.sockets.delete(socket);
      if (this.sockets.size === 0) this.onGone();
    });
  }
}
