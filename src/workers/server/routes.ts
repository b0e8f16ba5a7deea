// What each port answers. A route names its methods; a known path asked with another method is 405, an unknown one 404.
import findMyWay from "find-my-way";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { ConfigzBodies } from "../../shared/contracts/server.js";
import type { Logger } from "../../shared/log/logger.js";
import { EXPOSITION_CONTENT_TYPE } from "../../shared/metrics/merge.js";
import { replyConfigz } from "./configz.js";
import { pingCheck, replyHealth, replyOneCheck, type HealthCheck } from "./health.js";
import type { HttpMetrics } from "./http-metrics.js";
import type { PodList } from "./pod-list.js";
import { queryOf, replyError, replyMethodNotAllowed, replyNotFound, replyText, splitUrl } from "./reply.js";
import type { Scrape } from "./scrape.js";
import { replyTimeline, type TimelineParts } from "./timeline/reply.js";

type Params = Readonly<Record<string, string | undefined>>;
type Answer = (request: IncomingMessage, response: ServerResponse, params: Params) => void | Promise<void>;

interface Route {
  path: string;
  /** undefined: every method. */
  methods?: readonly "GET"[];
  answer: Answer;
}

/** Trees that exist on the authenticated port only. */
const DEBUG_TREES = ["run", "exec", "attach", "portForward", "containerLogs", "runningpods", "debug/pprof", "logs"];

export interface ReadOnlyParts {
  pods: PodList;
  /** /metrics */
  scrape: Scrape;
  /** /metrics/probes */
  scrapeProbes: Scrape;
  checks: readonly HealthCheck[];
  http: HttpMetrics;
  configz: () => ConfigzBodies;
  timeline: TimelineParts;
  log: Logger;
}

/** The read-only port: plain HTTP, no authentication, nothing that changes or reveals container content. */
export function readOnlyHandler(parts: ReadOnlyParts): RequestListener {
  const podsRoute: Answer = (_request, response) => parts.pods.reply(response);
  const disabled: Answer = (_request, response) => replyError(response, 405, "Debug endpoints are disabled.");
  const routes: Route[] = [
    ...healthRoutes(parts.checks),
    { path: "/pods", methods: ["GET"], answer: podsRoute },
    { path: "/pods/", methods: ["GET"], answer: podsRoute },
    configzRoute(parts.configz),
    {
      path: "/debug/pods/:namespace/:name/timeline",
      methods: ["GET"],
      answer: (request, response, { namespace = "", name = "" }) =>
        replyTimeline(parts.timeline, { namespace, name }, request, response),
    },
    metricsRoute("/metrics", parts.scrape),
    metricsRoute("/metrics/probes", parts.scrapeProbes),
    ...DEBUG_TREES.flatMap((tree) => [
      { path: `/${tree}`, answer: disabled },
      { path: `/${tree}/*`, answer: disabled },
    ]),
  ];
  return handler(routes, parts.log, parts.http);
}

/** The healthz port: is the process alive, and, for this machine's own eyes, how it is configured. */
export function healthzHandler(configz: () => ConfigzBodies, log: Logger): RequestListener {
  return handler([...healthRoutes([pingCheck]), configzRoute(configz)], log);
}

function configzRoute(bodies: () => ConfigzBodies): Route {
  return {
    path: "/configz",
    methods: ["GET"],
    answer: (request, response) => replyConfigz(request, response, bodies()),
  };
}

function metricsRoute(path: string, scrape: Scrape): Route {
  return {
    path,
    answer: async (_request, response) => replyText(response, await scrape.expose(), EXPOSITION_CONTENT_TYPE),
  };
}

function healthRoutes(checks: readonly HealthCheck[]): Route[] {
  return [
    { path: "/healthz", answer: (request, response) => replyHealth(response, checks, queryOf(request)) },
    ...checks.map((check) => ({
      path: `/healthz/${check.name}`,
      answer: (_request: IncomingMessage, response: ServerResponse) => replyOneCheck(response, check),
    })),
  ];
}

function handler(routes: readonly Route[], log: Logger, http?: HttpMetrics): RequestListener {
  const router = findMyWay({ defaultRoute: (_request, response) => replyNotFound(response), maxParamLength: 4096 });
  for (const route of routes) {
    router.all(route.path, (request, response, params) => answerRoute({ route, request, response, params, log }));
  }
  return (request, response) => {
    const end = http?.begin(request.method ?? "", splitUrl(request.url ?? "/")[0]);
    if (end !== undefined) response.once("close", end);
    // A body is never read; a client that sends one gets its answer all the same.
    request.resume();
    router.lookup(request, response);
  };
}

interface Asked {
  route: Route;
  request: IncomingMessage;
  response: ServerResponse;
  params: Params;
  log: Logger;
}

function answerRoute({ route, request, response, params, log }: Asked): void {
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
    const answered = route.answer(request, response, params);
    if (answered !== undefined) answered.catch(failed);
  } catch (error) {
    failed(error);
  }
}
