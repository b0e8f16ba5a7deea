// HTTP/2 on the authenticated port, for clients that negotiate it: one side for unauthenticated connections, and one
// for the others. Node's HTTP/2 is loaded with the first such client.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Server, Http2ServerRequest, Http2ServerResponse, ServerHttp2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { lazily } from "../../../shared/base/turns/lazily.js";
import { Http2Connection } from "../clients/http2-connection.js";
import { HandlerError, ownedBy, ownedByFirst } from "../clients/owned.js";
import type { Lookup } from "../http/entry.js";

/** MiB that nghttp2 holds for one HTTP/2 connection; Node's own limit is 10. */
const MAX_SESSION_MEMORY = 1;

export interface Http2SideOptions {
  handler: Lookup;
  limits: { lingerMs: number; idleMs: number };
  clock: Clock;
  /** A handler has failed, which ended its connection. */
  onDefect: (error: HandlerError) => void;
}

export class Http2Side {
  private readonly server = lazily(() => this.load());
  private readonly sessions = new Set<Http2Connection>();

  constructor(
    private readonly options: Http2SideOptions,
    private readonly maxHeaderListSize: number,
    private readonly maxConcurrentStreams: number,
  ) {}

  accept(socket: TLSSocket): void {
    this.server().then(
      ownedBy(socket, (server: Http2Server) => void server.emit("connection", socket)),
      () => socket.destroy(),
    );
  }

  retire(): void {
    for (const session of this.sessions) session.close();
  }

  private async load(): Promise<Http2Server> {
    const { createServer: createHttp2Server } = await import("node:http2");
    const { handler, clock, limits, onDefect } = this.options;
    const { maxHeaderListSize, maxConcurrentStreams } = this;
    const server = createHttp2Server({
      maxSessionMemory: MAX_SESSION_MEMORY,
      settings: { maxConcurrentStreams, maxHeaderListSize, enablePush: false },
    });
    server.on(
      "session",
      ownedByFirst(
        (session: ServerHttp2Session) => session,
        (session: ServerHttp2Session) => {
          faultPoint("http2-session");
          session.on("error", (error) => {
            if (error instanceof HandlerError) onDefect(error);
          });
          const connection = new Http2Connection(session, clock, limits.lingerMs, limits.idleMs);
          this.sessions.add(connection);
          session.once("close", () => this.sessions.delete(connection));
        },
      ),
    );
    const request = ownedByFirst(
      (request: Http2ServerRequest) => request.stream,
      (request: Http2ServerRequest, response: Http2ServerResponse) => {
        request.stream.on("error", (error) => {
          if (error instanceof HandlerError) onDefect(error);
        });
        faultPoint("http2-request");
        response.once("finish", () => {
          if (!request.complete) request.stream.close();
        });
        handler(request as unknown as IncomingMessage, response as unknown as ServerResponse);
      },
    );
    server.on("request", request);
    // Answered 400.
    server.on("connect", request);
    return server;
  }
}
