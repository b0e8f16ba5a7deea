// One HTTP listener, plain or with TLS. It repeats a bind that failed, and closes with its connections. A port in use
// is logged once, with the setting that changes it. The bind is repeated every 5 s (upstream's healthz server restart
// delay), so the server starts when the port becomes free.

import { createServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { ListenAddress } from "../../../shared/contracts/server.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { ConnectionBudget, type BudgetLimits } from "../clients/budget.js";
import { HandlerError } from "../clients/owned.js";
import type { Lookup } from "../http/entry.js";
import { Http1Connections, HTTP1_OPTIONS } from "../http/http1/connections.js";
import { HeadMemory } from "../http/http1/head-memory.js";

export const LISTEN_RETRY_MS = 5000;
export const HEADERS_TIMEOUT_MS = 10_000;
/** From a response that ends a connection until the connection is cut. */
const LINGER_MS = 1000;
/** Interval between two checks for slow clients, milliseconds. */
export const CHECK_MS = 5000;
/**
 * Limits of a plain port, where no client is authenticated: more connections than any scraper opens; above the limit
 * the oldest are closed.
 */
const PLAIN_LIMITS: BudgetLimits = {
  connections: 512,
  unauthorised: 512,
  unauthorisedPerAddress: 256,
  authorisedPerUser: 0,
  identified: 0,
  unauthorisedMs: Infinity,
  refusals: Infinity,
};

/** Eight of the largest heads at once. */
export const PLAIN_HEAD_POOL = { pool: 8 * 1024 * 1024, poolOfNetwork: 8 * 1024 * 1024 } as const;

/** Options of every HTTP server of this thread. */
export const HTTP_LIMITS = {
  ...HTTP1_OPTIONS,
  keepAliveTimeout: 90_000,
  requestTimeout: 4 * 60 * 60 * 1000,
} as const;

/** TCP keep-alive finds clients that disappeared, with the values of Go's server. */
export const ACCEPTED_SOCKETS = { keepAlive: true, keepAliveInitialDelay: 15_000 } as const;

/** A server that is not bound yet. */
export interface Bindable {
  readonly server: Server;
  /** Ends every connection; new ones are refused already. */
  endConnections(): void;
}

export interface ListenerOptions {
  /** Name in log lines: "read-only", "healthz". */
  name: string;
  address: string;
  port: number;
  /** The flags and fields that change address and port, for the error message. */
  changedBy: string;
  /** A fresh server for each try to bind. */
  create: () => Bindable;
  clock: Clock;
  log: Logger;
}

export class Listener {
  private current: Bindable | undefined;
  private retry: Timer | undefined;
  private closed = false;
  private reported = false;
  private bound: ListenAddress | undefined;
  private tried: () => void = () => undefined;
  private readonly firstTry = new Promise<void>((resolve) => {
    this.tried = resolve;
  });

  constructor(private readonly options: ListenerOptions) {}

  start(): void {
    if (this.closed) return;
    const { name, address, port, log } = this.options;
    this.current = this.options.create();
    const { server } = this.current;
    server.once("error", (error) => this.failed(error));
    server.listen({ host: address, port }, () => {
      if (this.closed) {
        server.close();
        return;
      }
      const actual = server.address() as AddressInfo;
      this.bound = { address: actual.address, port: actual.port };
      this.reported = false;
      server.on("error", (error) => log.error({ err: error }, `${name} server`));
      log.info({ address: actual.address, port: actual.port }, `${name} server is listening`);
      this.tried();
    });
  }

  /** The address of the listener, after the first try; undefined while it cannot listen. */
  async listening(): Promise<ListenAddress | undefined> {
    await this.firstTry;
    return this.bound;
  }

  /** Stops listening and ends every connection. */
  async close(): Promise<void> {
    this.closed = true;
    this.retry?.cancel();
    this.tried();
    const { current } = this;
    if (current?.server.listening !== true) return;
    await new Promise<void>((resolve) => {
      current.server.close(() => resolve());
      current.endConnections();
    });
    this.bound = undefined;
  }

  private failed(error: NodeJS.ErrnoException): void {
    this.bound = undefined;
    if (!this.reported) {
      this.reported = true;
      this.options.log.error({ code: error.code }, listenFailure(this.options, error));
    }
    this.tried();
    if (!this.closed) this.retry = this.options.clock.after(LISTEN_RETRY_MS, () => this.start());
  }
}

/** HTTP without TLS. */
export function plainServer(handler: Lookup, clock: Clock, log: Logger): Bindable {
  const server = createServer({
    ...HTTP_LIMITS,
    ...ACCEPTED_SOCKETS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
  });
  const budget = new ConnectionBudget(PLAIN_LIMITS, clock);
  const memory = new HeadMemory(PLAIN_HEAD_POOL);
  // No plain port upgrades to another protocol: such a request is an ordinary one.
  const options = { handler, headMs: HEADERS_TIMEOUT_MS, lingerMs: LINGER_MS, upgrades: false, clock };
  const connections = new Http1Connections(server, options);
  server.on("connection", (socket: Socket) => {
    socket.on("error", (err) => {
      if (err instanceof HandlerError) log.error({ err }, "a connection was closed, as its request failed");
    });
    if (budget.admit(socket)) connections.open(socket, memory);
  });
  return { server, endConnections: () => budget.endAll() };
}

/** An error with the address and the remedy. */
function listenFailure(
  where: Pick<ListenerOptions, "name" | "address" | "port" | "changedBy">,
  error: NodeJS.ErrnoException,
): string {
  const host = where.address.includes(":") ? `[${where.address}]` : where.address;
  const causes: Record<string, string> = {
    EADDRINUSE: "another process listens there",
    EADDRNOTAVAIL: "this machine has no such address",
    EACCES: "not permitted (ports below 1024 need root)",
  };
  const cause = causes[error.code ?? ""] ?? error.message;
  return `${where.name} server cannot listen on ${host}:${where.port}: ${cause}. Change it with ${where.changedBy}; trying again every ${LISTEN_RETRY_MS / 1000} s`;
}
