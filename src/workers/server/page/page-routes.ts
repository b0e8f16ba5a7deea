// The routes of the status page below /ui/: the document, logs, the configuration, and streams of node, host, pod and
// images. They only read. URLs in the page are relative, so that it works behind `kubectl proxy`, too.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { ConfigzBodies } from "../../../shared/contracts/server.js";
import type { Answer, Route } from "../http/answer.js";
import type { RoutePath } from "../http/paths.js";
import { replyError, replyText } from "../http/reply.js";
import type { Feed } from "./feed.js";
import { LiveStream } from "./live-stream.js";
import type { PageDocument } from "./page-document.js";

/** Open streams on all ports together: more pages than people look at. */
const MAX_STREAMS = 64;
/** Seconds. */
const RETRY_AFTER = "10";

export interface PageRouteDeps {
  document: () => Promise<PageDocument>;
  node: Feed;
  images: Feed;
  host: Feed;
  pod: (namespace: string, name: string) => Feed;
  configz: () => ConfigzBodies;
  /** As of /containerLogs. */
  logs: Answer;
  clock: Clock;
}

export function pageRoutes(deps: PageRouteDeps): Route[] {
  let streams = 0;
  const stream = (response: ServerResponse, feed: () => Feed): void => {
    if (streams >= MAX_STREAMS) {
      replyError(response, 429, "too many status pages are open", { "Retry-After": RETRY_AFTER });
      return;
    }
    streams++;
    new LiveStream(response, feed(), deps.clock, () => streams--);
  };
  const get = (path: RoutePath, answer: Answer): Route => ({
    path,
    methods: ["GET"],
    answer: (request, response, call) => {
      // This response is data, never a document that a browser renders.
      protect(response, "default-src 'none'; sandbox");
      return answer(request, response, call);
    },
  });
  return [
    get("/ui", (request, response) => toSlash(request, response)),
    get("/ui/", async (_request, response) => {
      let document;
      try {
        document = await deps.document();
      } catch (error) {
        replyError(response, 500, `the status page cannot be read: ${messageOf(error)}`);
        return;
      }
      protect(response, document.policy);
      replyText(response, document.html, "text/html; charset=utf-8");
    }),
    get("/ui/stream/node", (_request, response) => stream(response, () => deps.node)),
    get("/ui/stream/images", (_request, response) => stream(response, () => deps.images)),
    get("/ui/stream/host", (_request, response) => stream(response, () => deps.host)),
    get("/ui/stream/pods/:namespace/:name", (_request, response, { params: { namespace = "", name = "" } }) =>
      stream(response, () => deps.pod(namespace, name)),
    ),
    get("/ui/config", (_request, response) => replyText(response, deps.configz().withOrigins, "application/json")),
    get("/ui/logs/:namespace/:pod/:container", deps.logs),
  ];
}

function protect(response: ServerResponse, policy: string): void {
  response.setHeader("Content-Security-Policy", policy);
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Referrer-Policy", "no-referrer");
  response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
  response.setHeader("Cache-Control", "no-store");
}

/** Relative, as a proxy may have put a prefix before the path. */
function toSlash(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(301, { Location: "ui/", "Content-Length": "0" });
  response.end();
}
