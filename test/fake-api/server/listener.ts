// HTTPS on a port, HTTP/2 and HTTP/1.1 as the client chooses. It owns its connections: stop() breaks them as a crash
// does, and the same port can be listened on again.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createSecureServer, type Http2SecureServer, type Http2ServerRequest } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { CertificatePair } from "../certificates/authority.js";
import type { ApiRequest } from "./body.js";
import type { ApiResponse } from "./reply.js";

/** Upstream's API server keeps a connection at rest for so long; Node's default is 5 s. */
const IDLE_MS = 90_000;

export interface Handler {
  request(request: ApiRequest, response: ApiResponse, socket: TLSSocket): void;
  /** A request of HTTP/1.1 to switch protocols; `head` follows it. */
  upgrade(request: IncomingMessage, socket: TLSSocket, head: Buffer): void;
}

export class Listener {
  #server: Http2SecureServer | undefined;
  readonly #sockets = new Set<Socket>();
  #port: number;

  constructor(
    private readonly host: string,
    port: number,
    private readonly clientCa: string,
    private serving: CertificatePair,
    private readonly handler: Handler,
  ) {
    this.#port = port;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async start(): Promise<void> {
    if (this.#server !== undefined)
      throw new Error(`the fake API server listens already on ${this.host}:${this.#port}`);
    const server = createSecureServer({
      allowHTTP1: true,
      ...this.serving,
      ca: this.clientCa,
      requestCert: true,
      rejectUnauthorized: false,
    });
    // A connection that ends beside its client's next request breaks that request.
    Object.assign(server, { keepAliveTimeout: IDLE_MS });
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // Broken connections are the clients' business, and the faults'.
    server.on("secureConnection", (socket: TLSSocket) => void socket.on("error", () => undefined));
    server.on("sessionError", () => undefined);
    server.on("tlsClientError", () => undefined);
    server.on("request", (request, response) => {
      request.on("error", () => undefined);
      response.on("error", () => undefined);
      const socket = tlsSocketOf(request);
      if (socket !== undefined) this.handler.request(request, response, socket);
    });
    server.on("upgrade", (request: IncomingMessage, socket: TLSSocket, head: Buffer) => {
      this.handler.upgrade(request, socket, head);
    });
    server.listen(this.#port, this.host);
    await once(server, "listening");
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    this.dropConnections();
    await closed;
  }

  dropConnections(): void {
    for (const socket of [...this.#sockets]) socket.destroy();
  }

  /** For new connections; those that are open keep what they have. */
  present(serving: CertificatePair): void {
    this.serving = serving;
    this.#server?.setSecureContext({ ...serving, ca: this.clientCa });
  }
}

function tlsSocketOf(request: ApiRequest | Http2ServerRequest): TLSSocket | undefined {
  if (request.httpVersionMajor < 2) return request.socket as TLSSocket;
  return (request as Http2ServerRequest).stream.session?.socket as TLSSocket | undefined;
}
