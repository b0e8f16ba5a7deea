// Finds the route of a request and calls its handler. A route names its methods; another method of a known path is 405,
// an unknown path 404.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReadRequest } from "../../shared/http/read-request.js";
import type { Logger } from "../../shared/log/logger.js";
import type { Call, Route, Upgrade } from "./answer.js";
import { replyError, replyMethodNotAllowed, replyNotFound } from "./reply.js";
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
    const { route, params = {} } = this.table.find(target.path) ?? {};
    return { method, target, route, params };
  }

  /** Answers one request; never throws, never rejects. */
  answer(request: IncomingMessage, response: ServerResponse, call: Call, upgrade?: Upgrade): void {
    const { route, method } = call;
    if (route === undefined) {
      replyNotFound(response);
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
