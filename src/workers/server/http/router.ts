// Finds the route of a request and calls its handler. A route names its methods; another method of a known path is 405,
// an unknown path 404. A path with "//" or dot segments, or without a web service's final slash, is redirected, as
// upstream's ServeMux does.
// Invariant: a redirected request has no route: nothing handles it.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReadRequest } from "../../../shared/io/http/read-request.js";
import { cleanedPath, redirectUrl } from "../../../shared/io/http/server/clean-path.js";
import { pathSegments, type Target } from "../../../shared/io/http/target.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { Call, Route, Upgrade } from "./answer.js";
import { replyError, replyMethodNotAllowed, replyNoSuchRoute, replyNotFound, replyRedirect } from "./reply.js";
import { requestSpan, type CallerTrace } from "./request-span.js";
import { RouteTable } from "./route-table.js";

export class Router {
  private readonly table: RouteTable;

  constructor(
    routes: readonly Route[],
    private readonly log: Logger,
    private readonly callerTrace: CallerTrace,
  ) {
    this.table = new RouteTable(routes);
  }

  callOf({ method, target }: ReadRequest): Call {
    const redirect = this.redirectOf(method, target);
    if (redirect !== undefined) return { method, target, redirect, route: undefined, params: {} };
    const { route, params = {} } = (target.isUtf8 ? this.table.find(target.segments) : undefined) ?? {};
    return { method, target, redirect, route, params };
  }

  private redirectOf(method: string, target: Target): string | undefined {
    // The path of CONNECT is not cleaned.
    const cleaned = method === "CONNECT" ? undefined : cleanedPath(target);
    const segments = cleaned === undefined ? target.segments : pathSegments(cleaned).segments;
    const path = this.table.slashedPath(segments) ?? cleaned;
    return path === undefined ? undefined : redirectUrl(path, target);
  }

  /** Answers one request; never throws, never rejects. */
  answer(request: IncomingMessage, response: ServerResponse, call: Call, upgrade?: Upgrade): void {
    const { route, method, redirect } = call;
    if (redirect !== undefined) {
      replyRedirect(response, method, redirect);
      return;
    }
    if (route === undefined) {
      if (this.table.isBelowService(call.target.segments)) replyNoSuchRoute(response);
      else replyNotFound(response);
      return;
    }
    if (route.methods !== undefined && !route.methods.some((one) => one === method)) {
      replyMethodNotAllowed(response, route.methods);
      return;
    }
    const failed = (error: unknown): void => {
      this.log.error({ err: error, method, path: route.path }, "request failed");
      if (response.headersSent) response.destroy();
      else replyError(response, 500, "Internal Server Error");
    };
    try {
      const span = requestSpan(this.callerTrace, { route, call }, request, response, upgrade);
      const answer = (): void | Promise<void> => route.answer(request, response, call, upgrade);
      const answered = span === undefined ? answer() : span.within(answer);
      if (answered !== undefined) answered.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}
