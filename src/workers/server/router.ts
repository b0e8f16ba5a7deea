// Finds the route of a request and calls its handler. A route names its methods; another method of a known path is 405,
// an unknown path 404.
import findMyWay from "find-my-way";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../shared/log/logger.js";
import type { Route, Upgrade } from "./answer.js";
import { replyError, replyMethodNotAllowed, replyNotFound, splitUrl } from "./reply.js";
import { requestSpan, type CallerTrace } from "./request-span.js";

/** One tree of paths for all methods: a tree for each of Node's 35 methods took 5 MiB. */
const ANY = "GET";

/** Answers one request; never throws, never rejects. */
export type Lookup = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => void;

export function router(routes: readonly Route[], log: Logger, callerTrace: CallerTrace): Lookup {
  const table = findMyWay({ maxParamLength: 4096 });
  for (const route of routes) table.on(ANY, route.path, () => undefined, route);
  return (request, response, upgrade) => {
    const [path] = splitUrl(request.url ?? "/");
    const found = table.find(ANY, path);
    if (found === null) {
      replyNotFound(response);
      return;
    }
    const route = found.store as Route;
    if (route.methods !== undefined && !route.methods.some((method) => method === request.method)) {
      replyMethodNotAllowed(response, route.methods);
      return;
    }
    const failed = (error: unknown): void => {
      log.error({ err: error, method: request.method, path: route.path }, "request failed");
      if (response.headersSent) response.destroy();
      else replyError(response, 500, "Internal Server Error");
    };
    try {
      const span = requestSpan(callerTrace, route.path, request, response, upgrade);
      const answer = (): void | Promise<void> => route.answer(request, response, found.params, upgrade);
      const answered = span === undefined ? answer() : span.within(answer);
      if (answered !== undefined) answered.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
