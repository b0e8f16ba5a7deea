// The TLS server of the authenticated port: HTTP/1.1 and, for who asks for it, HTTP/2 (loaded with the first such client);
// upgrades are HTTP/1.1's.
// What must hold: a client that sends slowly, or nothing, holds a connection for seconds only; one that shows a certificate
// is let in whatever it is worth: that is judged per request.
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import { createServer } from "node:https";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import type { Upgrade } from "../answer.js";
import { HTTP_LIMITS, type Bindable } from "../listener.js";

/** How long a client may take to say what it wants, and how many may at once; milliseconds. */
export interface ConnectionLimits {
  handshakeMs: number;
  headersMs: number;
  /** How often slow ones are looked for. */
  checkMs: number;
  /** API server, followers of logs, streams; beyond it new connections are closed at once. */
  connections: number;
  /** Exec, attach and port-forward at once: more than people and their tools open. */
  streams: number;
}
export const CONNECTION_LIMITS: ConnectionLimits = {
  handshakeMs: 10_000,
  headersMs: 10_000,
  checkMs: 5000,
  connections: 1024,
  streams: 256,
};
/** Go's limit, which API servers know. */
const MAX_STREAMS = 250;

export type SecureHandler = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => void;

export interface HttpsServer extends Bindable {
  /** For connections made from now on. */
  setContext(options: SecureContextOptions): void;
  /** Connections end when what is under way on them has ended. */
  retireConnections(): void;
}

export interface HttpsServerOptions {
  context: SecureContextOptions;
  /** Ask clients for a certificate. */
  requestCert: boolean;
  handler: SecureHandler;
  limits: ConnectionLimits;
  /** The handshake is done. */
  onConnection(socket: TLSSocket): void;
  onTlsError(error: Error, socket: TLSSocket): void;
}

export function httpsServer(options: HttpsServerOptions): HttpsServer {
  const { context, requestCert, handler, limits } = options;
  const server = createServer({
    ...context,
    ...HTTP_LIMITS,
    headersTimeout: limits.headersMs,
    handshakeTimeout: limits.handshakeMs,
    connectionsCheckingInterval: limits.checkMs,
    requestCert,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
  });
  server.maxConnections = limits.connections;
  server.on("request", handler);
  server.on("upgrade", (request, socket, head) => onUpgrade(handler, request, socket, head));
  server.on("tlsClientError", (error, socket) => options.onTlsError(error, socket));

  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  const http2 = new Http2Side(handler);
  const [http1] = server.listeners("secureConnection") as ((this: unknown, socket: TLSSocket) => void)[];
  server.removeAllListeners("secureConnection");
  server.on("secureConnection", (socket: TLSSocket) => {
    options.onConnection(socket);
    if (socket.alpnProtocol === "h2") http2.accept(socket);
    else http1?.call(server, socket);
  });
  return {
    server,
    setContext: (options) => server.setSecureContext(options),
    retireConnections: () => {
      server.closeIdleConnections();
      http2.retire();
    },
    endConnections: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

/** The request of an upgrade comes with a bare socket: an answer that is no upgrade needs a response on it. */
function onUpgrade(handler: SecureHandler, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  // A client that breaks off is seen by its close.
  socket.on("error", () => undefined);
  if (!(socket instanceof Socket)) {
    socket.destroy();
    return;
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => {
    response.detachSocket(socket);
    socket.end();
  });
  handler(request, response, {
    socket,
    head,
    take: () => response.detachSocket(socket),
  });
}

class Http2Side {
  private server: Promise<Http2Server> | undefined;
  private readonly sessions = new Set<ServerHttp2Session>();

  constructor(private readonly handler: SecureHandler) {}

  accept(socket: TLSSocket): void {
    socket.on("error", () => undefined);
    this.server ??= this.load();
    this.server.then(
      (server) => server.emit("connection", socket),
      () => socket.destroy(),
    );
  }

  retire(): void {
    for (const session of this.sessions) session.close();
  }

  private async load(): Promise<Http2Server> {
    const { createServer: createHttp2Server } = await import("node:http2");
    const server = createHttp2Server({
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: HTTP_LIMITS.maxHeaderSize, enablePush: false },
    });
    server.on("session", (session) => {
      this.sessions.add(session);
      session.once("close", () => this.sessions.delete(session));
      session.on("error", () => undefined);
      session.setTimeout(HTTP_LIMITS.keepAliveTimeout, () => session.close());
    });
    server.on("request", (request, response) => {
      response.once("finish", () => {
        if (!request.complete) request.stream.close();
      });
      this.handler(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    });
    return server;
  }
}
