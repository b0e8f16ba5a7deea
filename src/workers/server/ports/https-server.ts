// The TLS server of the authenticated port: HTTP/1.1 and, for clients that negotiate it, HTTP/2 (loaded with the first
// such client); upgrades are HTTP/1.1's.
// Invariant: a client that sends slowly, or nothing, holds a connection for seconds only; one that shows any
// certificate is accepted: each request is authenticated. A fault of one connection ends only that connection.

import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { MAX_HEAD_BYTES } from "../../../shared/io/http/server/request-reader.js";
import { ConnectionBudget, type BudgetLimits } from "../clients/budget.js";
import { ClientGates } from "../clients/client-gates.js";
import { HandshakeQueue, type QueueLimits } from "../clients/handshake-queue.js";
import { HandshakeRate, type HandshakeLimits } from "../clients/handshake-rate.js";
import { http2ConnectionOf } from "../clients/http2-connection.js";
import { HandlerError, ownedByFirst } from "../clients/owned.js";
import type { Lookup } from "../http/entry.js";
import { Http1Connections } from "../http/http1/connections.js";
import { HeadMemory } from "../http/http1/head-memory.js";
import { Http2Side } from "./http2-side.js";
import { ACCEPTED_SOCKETS, HTTP_LIMITS, type Bindable } from "./listener.js";

/** Limits for the time and size of a client's requests (docs/adr/0039); times in milliseconds. */
export interface ConnectionLimits extends BudgetLimits, HandshakeLimits, QueueLimits {
  headersMs: number;
  /** Interval between two checks for slow clients. */
  checkMs: number;
  /** A connection without a byte in either direction is closed after this time. */
  idleMs: number;
  /** From a response that ends a connection until the connection is cut. */
  lingerMs: number;
  /** Processor time of a connection until one of its requests is authorised; then it is closed. */
  unauthorisedProcessorMs: number;
  /** Processor time of all unauthorised connections together until the other work of the thread gets as much time. */
  unauthorisedBatchMs: number;
  /** Exec, attach and port-forward at once: more than people and their tools open. */
  streams: number;
  /** Clients that follow logs at once. */
  followers: number;
  /**
   * Followers with an inotify instance. All processes of root share the instances: 128, unless
   * fs.inotify.max_user_instances says more.
   */
  followerWatches: number;
}
export const CONNECTION_LIMITS: ConnectionLimits = {
  handshakeMs: 10_000,
  headersMs: 10_000,
  checkMs: 5000,
  idleMs: HTTP_LIMITS.keepAliveTimeout,
  lingerMs: 1000,
  // The API server, followers of logs, streams.
  connections: 1024,
  // A scraper that leaks connections, or a reader, leaves as many to the API server and to operators.
  authorisedPerUser: 512,
  unauthorised: 256,
  unauthorisedPerAddress: 64,
  identified: 128,
  unauthorisedMs: 60_000,
  // A client with an old token or too few rights tries again on a new connection; a client that tries at random is
  // limited.
  refusals: 16,
  // A handshake with the largest chain takes 20 ms, and 16 refused requests the same.
  unauthorisedProcessorMs: 250,
  unauthorisedBatchMs: 10,
  streams: 256,
  followers: 256,
  followerWatches: 64,
  // A crowd of clients behind one address connects at once when the kubelet starts; then kubectl's and a scraper's
  // pace.
  handshakesPerSecond: 20,
  handshakeBurst: 128,
  // A client that tries again at once is served after 16 / (20 + 50) s on average, with any neighbours at its address
  // (docs/adr/0052).
  handshakesWaitingPerAddress: 16,
  handshakesWaiting: 256,
  // A tenth of the thread's time: with an RSA key a handshake takes 2 ms.
  spareHandshakesPerSecond: 50,
};
/**
 * Concurrent HTTP/2 streams of a connection with an authorised request or a verified certificate: Go's limit, which API
 * servers know.
 */
const MAX_STREAMS = 250;
/** Concurrent HTTP/2 streams of an unauthenticated connection; equals the pipeline limit of HTTP/1.1. */
const UNAUTHORISED_STREAMS = 16;
/**
 * Header bytes over HTTP/2: a command of 128 KiB, Linux' limit for one argument, fits in the URL. Go allows 1 MiB to
 * every client.
 */
export const IDENTIFIED_HEADER_BYTES = 512 * 1024;
/** Header bytes over HTTP/2 without a verified certificate. Tokens fit many times. */
const UNAUTHORISED_HEADER_BYTES = 64 * 1024;
/** Heads over HTTP/1: four of the largest at once, and thirty-two with a verified certificate. */
const UNAUTHORISED_HEAD_POOL = { pool: 4 * MAX_HEAD_BYTES, poolOfNetwork: 2 * MAX_HEAD_BYTES };
const IDENTIFIED_HEAD_POOL = { pool: 32 * MAX_HEAD_BYTES, poolOfNetwork: 16 * MAX_HEAD_BYTES };

/** Clients without an authorised request or a verified certificate, and the others. */
type Side = "unauthorised" | "identified";

export interface HttpsServerOptions {
  context: SecureContextOptions;
  /** Ask clients for a certificate. */
  requestCert: boolean;
  handler: Lookup;
  limits: ConnectionLimits;
  clock: Clock;
  /** The handshake is done. @returns whether the client has shown a certificate that is verified */
  onConnection(socket: TLSSocket): boolean;
  onTlsError(error: Error, socket: TLSSocket): void;
  /** A connection was closed before its first authorised request. */
  onConnectionRefused: (address: string, why: string) => void;
  /** A handler has failed, which ended its connection. */
  onDefect: (error: HandlerError) => void;
}

export class HttpsServer implements Bindable {
  readonly server: Server;
  private readonly http1: Http1Connections;
  private readonly budget: ConnectionBudget;
  private readonly handshakes: HandshakeRate;
  private readonly queue: HandshakeQueue;
  private readonly gates: ClientGates;
  private readonly http2: Readonly<Record<Side, Http2Side>>;
  private readonly heads: Readonly<Record<Side, HeadMemory>> = {
    unauthorised: new HeadMemory(UNAUTHORISED_HEAD_POOL),
    identified: new HeadMemory(IDENTIFIED_HEAD_POOL),
  };

  constructor(private readonly options: HttpsServerOptions) {
    const { limits, clock } = options;
    this.server = tlsServer(options);
    this.http1 = http1Connections(this.server, options);
    this.budget = new ConnectionBudget(limits, clock);
    this.handshakes = new HandshakeRate(limits, clock);
    const accept = ownedByFirst((socket: Duplex) => socket, takeListener(this.server, "connection"));
    this.queue = new HandshakeQueue({
      rate: this.handshakes,
      limits,
      clock,
      start: (socket, isSpare) => {
        if (this.budget.admit(socket)) accept(this.gates.open(socket, isSpare));
      },
      onRefused: (address) =>
        options.onConnectionRefused(address, "its address starts too many TLS handshakes per second"),
    });
    this.gates = new ClientGates({
      limitMs: limits.unauthorisedProcessorMs,
      batchMs: limits.unauthorisedBatchMs,
      rate: this.handshakes,
      chargeSpare: (count) => this.queue.chargeSpare(count),
      clock,
      onRefused: options.onConnectionRefused,
    });
    this.http2 = {
      unauthorised: new Http2Side(options, UNAUTHORISED_HEADER_BYTES, UNAUTHORISED_STREAMS),
      identified: new Http2Side(options, IDENTIFIED_HEADER_BYTES, MAX_STREAMS),
    };
    const serveHttp1 = takeListener(this.server, "secureConnection");
    const onSecured = (socket: TLSSocket): void => this.onSecured(socket, serveHttp1);
    this.server.on("tlsClientError", (error, socket) => options.onTlsError(error, socket));
    this.server.on("keylog", (line: Buffer, socket) => this.gates.onKeyLog(line, socket));
    this.server.on("connection", (socket: Socket) => this.queue.admit(socket));
    this.server.on(
      "secureConnection",
      ownedByFirst((socket: TLSSocket) => socket, onSecured),
    );
  }

  /** Connections that are made from now on use this context. */
  setContext(context: SecureContextOptions): void {
    this.server.setSecureContext(context);
  }

  /**
   * A request of this connection was authorised. @param streams HTTP/2 requests that it may have in progress @returns
   * false if its user has too many connections already
   */
  authorised(socket: Socket, user: string, streams = MAX_STREAMS): boolean {
    if (!this.budget.authorise(socket, user)) return false;
    this.gates.release(socket);
    this.handshakes.authorise(socket.remoteAddress);
    http2ConnectionOf(socket)?.allowStreams(streams);
    return true;
  }

  /** A request of this connection is refused with this response, which is not sent yet. */
  refused(socket: Socket, response: ServerResponse): void {
    if (this.budget.refuse(socket)) this.endAfter(socket, response);
  }

  /** The connection closes after this response, which is not sent yet. */
  endAfter(socket: Socket, response: ServerResponse): void {
    const http2 = http2ConnectionOf(socket);
    if (http2 === undefined) response.shouldKeepAlive = false;
    else http2.close();
  }

  /** Connections close after the responses to their pending requests. */
  retireConnections(): void {
    this.server.closeIdleConnections();
    this.http2.unauthorised.retire();
    this.http2.identified.retire();
  }

  endConnections(): void {
    this.queue.endAll();
    this.budget.endAll();
  }

  /** The handshake of this connection is done. */
  private onSecured(socket: TLSSocket, serveHttp1: (socket: Duplex) => void): void {
    if (!this.gates.secured(socket)) {
      socket.destroy();
      return;
    }
    // A client that disconnects is noticed by its close.
    socket.on("error", (error) => {
      if (error instanceof HandlerError) this.options.onDefect(error);
    });
    const identified = this.options.onConnection(socket);
    if (identified) this.budget.identify(socket);
    const side = identified ? "identified" : "unauthorised";
    if (socket.alpnProtocol === "h2") {
      this.http2[side].accept(socket);
      return;
    }
    serveHttp1(socket);
    this.http1.open(socket, this.heads[side]);
  }
}

function tlsServer({ context, requestCert, limits }: HttpsServerOptions): Server {
  return createServer({
    ...context,
    ...HTTP_LIMITS,
    ...ACCEPTED_SOCKETS,
    headersTimeout: limits.headersMs,
    handshakeTimeout: limits.handshakeMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
    requestCert,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
  });
}

function http1Connections(server: Server, { handler, limits, clock }: HttpsServerOptions): Http1Connections {
  return new Http1Connections(server, {
    handler: (request, response, upgrade) => {
      faultPoint(upgrade === undefined ? "http-request" : "http-upgrade");
      handler(request, response, upgrade);
    },
    headMs: limits.headersMs,
    lingerMs: limits.lingerMs,
    upgrades: true,
    clock,
  });
}

/** Removes Node's own listener, to be called after the kubelet's own has checked the connection. */
function takeListener(server: Server, event: "connection" | "secureConnection"): (socket: Duplex) => void {
  const [listener] = server.listeners(event) as ((socket: Duplex) => void)[];
  if (listener === undefined) throw new Error(`Node's server does not listen to ${event}`);
  server.removeAllListeners(event);
  return listener.bind(server);
}
