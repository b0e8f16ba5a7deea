// Routes of each port without authentication, and the routes that the authenticated port shares with them.
import type { RequestListener } from "node:http";
import type { Logger } from "../../shared/log/logger.js";
import { replyPage } from "./compress.js";
import { EXPOSITION_CONTENT_TYPE } from "./merge-metrics.js";
import type { Answer, Route } from "./answer.js";
import { pingCheck, replyHealth, replyOneCheck, type HealthCheck } from "./health.js";
import type { HttpMetrics } from "./http-metrics.js";
import type { PodList } from "./pod-list.js";
import { queryOf, replyError, splitUrl } from "./reply.js";
import { router } from "./router.js";
import type { Scrape } from "./scrape.js";
import type { HealthSlis } from "./slis.js";
import type { Stats } from "./stats/index.js";
import { replyTimeline, type TimelineParts } from "./timeline/reply.js";

/** Trees that exist on the authenticated port only, and there only with enableDebuggingHandlers. */
const DEBUG_TREES = ["run", "exec", "attach", "portForward", "containerLogs", "runningpods", "debug/pprof", "logs"];

/** Dependencies of every port that serves pods. */
export interface NodeParts {
  pods: PodList;
  /** /metrics */
  scrape: Scrape;
  /** /metrics/probes */
  scrapeProbes: Scrape;
  checks: readonly HealthCheck[];
  /** /metrics/slis */
  slis: Pick<HealthSlis, "route">;
  timeline: TimelineParts;
  stats: Pick<Stats, "routes">;
}

export interface ReadOnlyParts extends NodeParts {
  http: HttpMetrics;
  log: Logger;
}

/** The read-only port: plain HTTP, no authentication, nothing that changes or reveals container content. */
export function readOnlyHandler(parts: ReadOnlyParts): RequestListener {
  const routes = [...nodeRoutes(parts), ...disabledDebugRoutes()];
  return handler(routes, parts.log, parts.http);
}

/** The healthz port: is the process alive. */
export function healthzHandler(log: Logger): RequestListener {
  return handler(healthRoutes([pingCheck]), log);
}

export function nodeRoutes(parts: NodeParts): Route[] {
  const podsRoute: Answer = (_request, response) => parts.pods.reply(response);
  return [
    ...healthRoutes(parts.checks),
    { path: "/pods", methods: ["GET"], answer: podsRoute },
    { path: "/pods/", methods: ["GET"], answer: podsRoute },
    {
      path: "/debug/pods/:namespace/:name/timeline",
      methods: ["GET"],
      answer: (request, response, { namespace = "", name = "" }) =>
        replyTimeline(parts.timeline, { namespace, name }, request, response),
    },
    metricsRoute("/metrics", parts.scrape),
    metricsRoute("/metrics/probes", parts.scrapeProbes),
    parts.slis.route(),
    ...parts.stats.routes(),
  ];
}

export function disabledDebugRoutes(): Route[] {
  return DEBUG_TREES.flatMap((tree) => disabledTree(tree, "Debug endpoints are disabled."));
}

/** Everything under /tree answers 405 with the message. */
export function disabledTree(tree: string, message: string): Route[] {
  const disabled: Answer = (_request, response) => replyError(response, 405, message);
  return [
    { path: `/${tree}`, answer: disabled },
    { path: `/${tree}/*`, answer: disabled },
  ];
}

function metricsRoute(path: string, scrape: Scrape): Route {
  return {
    path,
    answer: async (request, response) => replyPage(request, response, await scrape.expose(), EXPOSITION_CONTENT_TYPE),
  };
}

function healthRoutes(checks: readonly HealthCheck[]): Route[] {
  return [
    { path: "/healthz", answer: (request, response) => replyHealth(response, checks, queryOf(request)) },
    ...checks.map((check): Route => ({
      path: `/healthz/${check.name}`,
      answer: (_request, response) => replyOneCheck(response, check),
    })),
  ];
}

function handler(routes: readonly Route[], log: Logger, http?: HttpMetrics): RequestListener {
  const lookup = router(routes, log);
  return (request, response) => {
    const end = http?.begin(request.method ?? "", splitUrl(request.url ?? "/")[0]);
    if (end !== undefined) response.once("close", end);
    // A body is never read; a client that sends one gets its answer all the same.
    request.resume();
    lookup(request, response);
  };
}
