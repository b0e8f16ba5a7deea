// Routes of each port without authentication, and the routes that the authenticated port shares with them.

import { queryOf } from "../../shared/io/http/target.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { authorisedPath } from "./auth/attributes.js";
import { replyHealth, replyOneCheck, type HealthCheck } from "./health/health.js";
import type { HealthSlis } from "./health/slis.js";
import type { Answer, Route } from "./http/answer.js";
import { replyPage } from "./http/compress.js";
import { entry, type Lookup } from "./http/entry.js";
import { DEBUG_TREES, type RoutePath, type TreeName } from "./http/paths.js";
import { replyError } from "./http/reply.js";
import { Router } from "./http/router.js";
import { showProcessStart } from "./metrics/exposition.js";
import type { HttpMetrics } from "./metrics/http-metrics.js";
import type { Scrape } from "./metrics/scrape.js";
import type { PodList } from "./pods/pod-list.js";
import { replyTimeline, type TimelineDeps } from "./pods/timeline/reply.js";
import { onlyOwnHost } from "./ports/own-host.js";
import type { Stats } from "./stats/index.js";

const NO_PODS = "Pods are not served on this port: use the nodelet command, or --read-only-pods=true.";

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
  /** Names of this machine, beside localhost. */
  hostNames: readonly string[];
  /** --read-only-pods */
  servesPods: boolean;
  log: Logger;
}

/** The read-only port: plain HTTP, no authentication, nothing that changes or reveals container content. */
export function readOnlyHandler(deps: ReadOnlyRouteDeps): Lookup {
  const pods = deps.servesPods ? podRoutes(deps) : noPodRoutes();
  const routes = [...pods, ...usageRoutes(deps), ...disabledDebugRoutes()];
  return handler(new Router(routes, deps.log, "refer"), deps.hostNames, deps.http);
}

/** The healthz port: is the process alive. */
export function healthzHandler(ping: HealthCheck, hostNames: readonly string[], log: Logger): Lookup {
  return handler(new Router(healthRoutes([ping]), log, "off"), hostNames);
}

export function nodeRoutes(deps: NodeRouteDeps): Route[] {
  return [...podRoutes(deps), ...usageRoutes(deps)];
}

/** Texts of pods, with the values of variables. */
function podRoutes(deps: NodeRouteDeps): Route[] {
  const podsRoute: Answer = (_request, response) => deps.pods.reply(response);
  return [
    { path: "/pods", service: "/pods", methods: ["GET"], answer: podsRoute },
    {
      path: "/debug/pods/:namespace/:name/timeline",
      methods: ["GET"],
      answer: (request, response, { target, params: { namespace = "", name = "" } }) =>
        replyTimeline(deps.timeline, { namespace, name }, request, target, response),
    },
  ];
}

function noPodRoutes(): Route[] {
  const answer: Answer = (_request, response) => replyError(response, 405, NO_PODS);
  return [
    { path: "/pods", service: "/pods", answer },
    { path: "/pods/*", service: "/pods", answer },
    { path: "/debug/pods/*", answer },
  ];
}

/** Health, metrics and resource usage. */
function usageRoutes(deps: NodeRouteDeps): Route[] {
  return [
    ...healthRoutes(deps.checks),
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

/** Every path under /tree/ returns 405 with the message. */
export function disabledTree(tree: TreeName | "debug/pprof", message: string): Route[] {
  const disabled: Answer = (_request, response) => replyError(response, 405, message);
  return [{ path: `/${tree}/*`, service: `/${tree}/`, answer: disabled }];
}

function metricsRoute(path: RoutePath, scrape: Scrape): Route {
  return {
    path,
    answer: async (request, response) => {
      const { body, contentType } = await scrape.expose(request.headers.accept);
      await showProcessStart(response);
      await replyPage(request, response, body, contentType);
    },
  };
}

function healthRoutes(checks: readonly HealthCheck[]): Route[] {
  return [
    { path: "/healthz", answer: (_request, response, { target }) => replyHealth(response, checks, queryOf(target)) },
    ...checks.map((check): Route => ({
      path: `/healthz/${check.name}`,
      answer: (_request, response) => replyOneCheck(response, check),
    })),
  ];
}

function handler(router: Router, hostNames: readonly string[], http?: HttpMetrics): Lookup {
  return entry(
    "http",
    onlyOwnHost(hostNames, (request, response, read) => {
      const call = router.callOf(read);
      const end = http?.countRequest(call.method, authorisedPath(call));
      if (end !== undefined) response.once("close", end);
      // A body is never read; a client that sends one gets its response all the same.
      request.resume();
      router.answer(request, response, call);
    }),
  );
}
