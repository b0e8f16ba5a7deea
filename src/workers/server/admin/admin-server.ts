// The server behind the admin socket: HTTP/1.1 with the routes of the authenticated port and of the nodelet command.
// Routes are made, and their code loaded, with the first request.
// Invariant: without a client it costs one listener.

import { createServer } from "node:http";
import type { Server, Socket } from "node:net";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { AdminInit } from "../../../shared/contracts/server.js";
import type { BoundSocket } from "../../../shared/io/net/private-socket.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { authorisedPath, isManifestPath } from "../auth/attributes.js";
import { entry } from "../http/entry.js";
import { Http1Connections } from "../http/http1/connections.js";
import { HeadMemory } from "../http/http1/head-memory.js";
import { replyError } from "../http/reply.js";
import type { Router } from "../http/router.js";
import {
  ACCEPTED_SOCKETS,
  CHECK_MS,
  HEADERS_TIMEOUT_MS,
  HTTP_LIMITS,
  LISTEN_RETRY_MS,
  PLAIN_HEAD_POOL,
} from "../ports/listener.js";
import { bindSocket } from "./socket.js";

/** Far more than people open; the next is closed at once. */
const MAX_CONNECTIONS = 128;
/** More than any route reads but the manifest API, which has its own limit. */
const MAX_BODY_BYTES = 64 * 1024;
const LINGER_MS = 1000;

export interface AdminRoutes {
  router: Router;
  close(): void;
}

export interface AdminServerOptions {
  init: AdminInit;
  /** Called with the first request. */
  routes: () => Promise<AdminRoutes>;
  clock: Clock;
  log: Logger;
}

export class AdminServer {
  private routes: Promise<AdminRoutes> | undefined;
  private readonly connections = new Set<Socket>();
  private server: Server | undefined;
  private bound: BoundSocket | undefined;
  private retry: Timer | undefined;
  private closed = false;
  private reported = false;

  constructor(private readonly options: AdminServerOptions) {}

  /** Resolves after the first try to listen; a socket that cannot be bound is tried again. */
  async start(): Promise<void> {
    const { init, clock, log } = this.options;
    // A server that could not be bound is not used again.
    const server = this.create();
    try {
      const bound = await bindSocket(server, { path: init.socket, group: init.group, rootDir: init.rootDir });
      if (this.closed) {
        await bound.remove();
        server.close();
        return;
      }
      this.server = server;
      this.bound = bound;
      server.on("error", (err) => log.error({ err }, "admin socket"));
      log.info({ socket: init.socket, group: init.group }, "the admin socket is listening");
      if (bound.problem !== undefined) {
        log.warn({}, `admin socket ${init.socket}: ${bound.problem}; choose another place with --admin-socket`);
      }
    } catch (error) {
      if (!this.reported) {
        this.reported = true;
        const remedy = "change it with --admin-socket and --admin-socket-group (none turns it off)";
        log.error(
          { err: error },
          `cannot listen on the admin socket ${init.socket}: ${messageOf(error)}; ${remedy}; trying again every ${LISTEN_RETRY_MS / 1000} s`,
        );
      }
      if (this.closed) return;
      this.retry = clock.after(LISTEN_RETRY_MS, () => void this.start());
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.retry?.cancel();
    await this.bound?.remove();
    const { server } = this;
    if (server !== undefined) {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of this.connections) socket.destroy();
      });
    }
    (await this.routes?.catch(() => undefined))?.close();
  }

  private create() {
    const { clock } = this.options;
    const server = createServer({
      ...HTTP_LIMITS,
      ...ACCEPTED_SOCKETS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_MS,
    });
    server.maxConnections = MAX_CONNECTIONS;
    const memory = new HeadMemory(PLAIN_HEAD_POOL);
    const { handle: handler } = this;
    const options = { handler, headMs: HEADERS_TIMEOUT_MS, lingerMs: LINGER_MS, upgrades: true, clock };
    const connections = new Http1Connections(server, options);
    server.on("connection", (socket: Socket) => {
      this.connections.add(socket);
      socket.on("error", (err) => this.options.log.debug({ err }, "a client of the admin socket broke off"));
      socket.once("close", () => this.connections.delete(socket));
      connections.open(socket, memory);
    });
    return server;
  }

  private readonly handle = entry("http", (request, response, read, upgrade) => {
    let gone = false;
    (upgrade?.socket ?? response).once("close", () => (gone = true));
    this.routes ??= this.options.routes();
    this.routes.then(
      ({ router }) => {
        if (gone) return;
        const call = router.callOf(read);
        const length = Number(request.headers["content-length"] ?? 0);
        if (length <= MAX_BODY_BYTES || isManifestPath(authorisedPath(call))) {
          router.answer(request, response, call, upgrade);
          return;
        }
        response.shouldKeepAlive = false;
        replyError(response, 413, "Request Entity Too Large");
      },
      (error: unknown) => {
        this.options.log.error({ err: error }, "the routes of the admin socket cannot be loaded");
        this.routes = undefined;
        if (!gone) replyError(response, 500, "Internal Server Error");
      },
    );
  });
}
