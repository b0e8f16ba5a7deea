// The routes of the admin socket: those of the authenticated port, and those that only the nodelet command uses. Loaded
// with the first request on the socket.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { NodeletEvents } from "../../../shared/contracts/nodelet.js";
import type { ServerUpcalls } from "../../../shared/contracts/server.js";
import { recentLines } from "../../../shared/telemetry/log/logger.js";
import type { Remote } from "../../../shared/thread/remote-calls.js";
import type { Route } from "../http/answer.js";
import type { RoutePath } from "../http/paths.js";
import { replyError, replyText } from "../http/reply.js";
import { Router } from "../http/router.js";
import { CONNECTION_LIMITS } from "../ports/https-server.js";
import { TrustedRoutes, type TrustedDeps } from "../trusted-routes.js";
import type { AdminRoutes } from "./admin-server.js";
import { nodeletImages, type ImageDeps } from "./images.js";
import { nodeletStatus, type StatusDeps } from "./status.js";

export interface AdminRouteDeps extends Omit<TrustedDeps, "limits" | "streamMetrics" | "upcalls"> {
  upcalls: Pick<
    Remote<ServerUpcalls>,
    | "mirrorUid"
    | "setVerbosity"
    | "nodeFacts"
    | "podFacts"
    | "allPodFacts"
    | "restartPod"
    | "podStarts"
    | "events"
    | "unusedImages"
  >;
  status: Omit<StatusDeps, "facts" | "threads" | "clock">;
  images: ImageDeps["images"];
}

export function adminRoutes(deps: AdminRouteDeps): AdminRoutes {
  // The metric counts the streams of the authenticated port.
  const streamMetrics = { websocket: () => undefined };
  const { thread, init, node, configz, upcalls, threads, runtime, logDirectory, logReaders, manifests, clock, log } =
    deps;
  const trusted = new TrustedRoutes({
    thread,
    init,
    node,
    configz,
    upcalls,
    threads,
    runtime,
    limits: CONNECTION_LIMITS,
    logDirectory,
    streamMetrics,
    logReaders,
    manifests,
    clock,
    log,
  });
  const router = new Router([...trusted.routes, ...nodeletRoutes(deps)], log, "refer");
  return { router, close: () => trusted.close() };
}

export function nodeletRoutes({ upcalls, status, threads, images, node, clock, log }: AdminRouteDeps): Route[] {
  const route = (
    path: RoutePath,
    answer: (params: Readonly<Record<string, string | undefined>>) => Promise<unknown>,
    method: "GET" | "POST" = "GET",
  ): Route => ({
    path,
    methods: [method],
    answer: async (request, response, { params }) => {
      request.resume();
      try {
        const body = await answer(params);
        if (body === undefined) replyError(response, 404, "this node has no such pod");
        else replyText(response, `${JSON.stringify(body)}\n`, "application/json");
      } catch (error) {
        replyError(response, 503, messageOf(error));
      }
    },
  });
  return [
    route("/nodelet/status", () => nodeletStatus({ ...status, facts: () => upcalls.nodeFacts(), threads, clock })),
    route("/nodelet/manifests", () => Promise.resolve(status.manifests())),
    route("/nodelet/pods/:namespace/:name", ({ namespace = "", name = "" }) => upcalls.podFacts(namespace, name)),
    route(
      "/nodelet/pods/:namespace/:name/restart",
      ({ namespace = "", name = "" }) => upcalls.restartPod(namespace, name),
      "POST",
    ),
    route("/nodelet/pod-facts", () => upcalls.allPodFacts()),
    route("/nodelet/pod-starts", () => upcalls.podStarts()),
    route("/nodelet/events", async (): Promise<NodeletEvents> => {
      return { kind: "EventList", apiVersion: "v1", items: await upcalls.events() };
    }),
    route("/nodelet/images", () =>
      nodeletImages({
        images,
        pods: () => node.pods.all(),
        unused: () => upcalls.unusedImages(),
        disk: status.disk,
      }),
    ),
    {
      path: "/nodelet/log",
      methods: ["GET"],
      answer: (_request, response) => replyText(response, recentLines(log)),
    },
  ];
}
