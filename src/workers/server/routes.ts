// Routes of each port without authentication, and the routes that the authenticated port shares with them.
import type { RequestListener } from "node:http";
import type { Logger } from "../../shared/log/logger.js";
import { replyPage } from "./compress.js";
import type { Answer, Route } from "./answer.js";
import { pingCheck, replyHealth, replyOneCheck, type HealthCheck } from "./health.js";
import type { HttpMetrics } from "./http-metrics.js";
import { DEBUG_TREES, type RoutePath, type TreeName } from "./paths.js";
import type { PodList } from "./pod-list.js";
import { queryOf, replyError, splitUrl } from "./reply.js";
import type { CallerTrace } from "./request-span.js";
import { router } from "./router.js";
import type { Scrape } from "./scrape.js";
import type { HealthSlis } from "./slis.js";
import type { Stats } from "./stats/index.js";
import { replyTimeline, type TimelineDeps } from "./timeline/reply.js";

/** Dependencies of every port that serves pods. */
export interface NodeRouteDeps {
  pods: PodList;
  /** /metrics */
  scrape: Scrape;
  /** /metrics/probes */
  scrapeProbes: Scrape;
  checks: readonly HealthCheck[];
  /** /metrics/slis */
  slis: Pick<HealthSlis, "route">;
  timeline: TimelineDeps;
  stats: Pick<Stats, "routes">;
}

export interface ReadOnlyRouteDeps extends NodeRouteDeps {
  http: HttpMetrics;
  log: Logger;
}

/** The read-only port: plain HTTP, no authentication, nothing that changes or reveals container content. */
export function readOnlyHandler(deps: ReadOnlyRouteDeps): RequestListener {
  const routes = [...nodeRoutes(deps), ...disabledDebugRoutes()];
  return handler(routes, deps.log, "refer", deps.http);
}

/** The healthz port: is the process alive. */
export function healthzHandler(log: Logger): RequestListener {
  return handler(healthRoutes([pingCheck]), log, "off");
}

export function nodeRoutes(deps: NodeRouteDeps): Route[] {
  const podsRoute: Answer = (_request, response) => deps.pods.reply(response);
  return [
    ...healthRoutes(deps.checks),
    { path: "/pods", methods: ["GET"], answer: podsRoute },
    { path: "/pods/", methods: ["GET"], answer: podsRoute },
    {
      path: "/debug/pods/:namespace/:name/timeline",
      methods: ["GET"],
      answer: (request, response, { namespace = "", name = "" }) =>
        replyTimeline(deps.timeline, { namespace, name }, request, response),
    },
    metricsRoute("/metrics", deps.scrape),
    metricsRoute("/metrics/probes", deps.scrapeProbes),
    deps.slis.route(),
    ...deps.stats.routes(),
  ];
}

export function disabledDebugRoutes(): Route[] {
  return [...DEBUG_TREES, "debug/pprof" as const].flatMap((tree) =>
    disabledTree(tree, "Debug endpoints are disabled."),
  );
}

/** Every path under /tree returns 405 with the message. */
export function disabledTree(tree: TreeName | "debug/pprof", message: string): Route[] {
  const disabled: Answer = (_request, response) => replyError(response, 405, message);
  return [
    { path: `/${tree}`, answer: disabled },
    { path: `/${tree}/*`, answer: disabled },
  ];
}

function metricsRoute(path: RoutePath, scrape: Scrape): Route {
  return {
    path,
    answer: async (request, response) => {
      const { body, contentType } = await scrape.expose(request.headers.accept);
      await replyPage(request, response, body, contentType);
    },
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

function handler(routes: readonly Route[], log: Logger, callerTrace: CallerTrace, http?: HttpMetrics): RequestListener {
  const lookup = router(routes, log, callerTrace);
  return (request, response) => {
    const end = http?.begin(request.method ?? "", splitUrl(request.url ?? "/")[0]);
    if (end !== undefined) response.once("close", end);
    // A body is never read; a client that sends one gets its response all the same.
    request.resume();
    lookup(request, response);
  };
}
