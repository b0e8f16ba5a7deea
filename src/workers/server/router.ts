// Finds the route of a request and lets it answer. A route names its methods; a known path asked with another method is
// 405, an unknown one 404.
import findMyWay from "find-my-way";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../shared/log/logger.js";
import type { Route, Upgrade } from "./answer.js";
import { replyError, replyMethodNotAllowed, replyNotFound, splitUrl } from "./reply.js";

/** One tree of paths for all methods: a tree for each of the 35 that Node knows took 5 MiB. */
const ANY = "GET";

/** Answers one request; never throws, never rejects. */
export type Lookup = (request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade) => void;

export function router(routes: readonly Route[], log: Logger): Lookup {
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
      const answered = route.answer(request, response, found.params, upgrade);
      if (answered !== undefined) answered.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
