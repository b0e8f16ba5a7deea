// docs/reference/endpoints.md: the routes of each port as the server makes them, with what a client must be allowed to do. The routes are
// made with everything turned on, and never called.

import type { Route } from "../../src/workers/server/answer.js";
import { nodeletRoutes } from "../../src/workers/server/admin/admin-routes.js";
import { subresourcesOf, verbOf } from "../../src/workers/server/auth/attributes.js";
import { nodeChecks } from "../../src/workers/server/health.js";
import { CONNECTION_LIMITS } from "../../src/workers/server/https-server.js";
import { nodeRoutes, type NodeRouteDeps } from "../../src/workers/server/routes.js";
import { HealthSlis } from "../../src/workers/server/slis.js";
import { Stats } from "../../src/workers/server/stats/index.js";
import { pageRoutes } from "../../src/workers/server/status-page/page-routes.js";
import { TrustedRoutes } from "../../src/workers/server/trusted-routes.js";
import { code, heading, table } from "./table.js";
import { ENDPOINT_MEANINGS } from "./endpoint-meanings.js";

/** Dependencies of a route that is not called. */
const uncalled = <T>(): T => ({}) as T;

export function endpointsPage(): string {
  const node: NodeRouteDeps = {
    ...uncalled<NodeRouteDeps>(),
    checks: nodeChecks(uncalled(), 0),
    slis: new HealthSlis(),
    stats: new Stats(uncalled()),
  };
  const readOnly = new Set(nodeRoutes(node).map(({ path }) => path));
  const secure = [...trusted(node), ...pageRoutes(uncalled())];
  const admin = nodeletRoutes({ ...uncalled(), node });
  const seen = new Set<string>();
  const rows = [...secure, ...admin].flatMap((route) => {
    const path = shown(route.path);
    // The same route with and without a slash at its end.
    if (seen.has(path)) return [];
    seen.add(path);
    const ports = admin.includes(route) ? "socket" : `10250, socket${readOnly.has(route.path) ? ", 10255" : ""}`;
    const onPage = route.path.startsWith("/ui") ? "10250, status page" : ports;
    return [[methods(route), code(path), onPage, admin.includes(route) ? "" : rights(route), meaningOf(path)]];
  });
  const unused = Object.keys(ENDPOINT_MEANINGS).filter((path) => !seen.has(path));
  if (unused.length > 0) throw new Error(`packaging/docs/endpoint-meanings.ts: no such endpoint: ${unused.join(", ")}`);
  return [
    ...heading("HTTP endpoints", [
      "Every path that the kubelet serves. 10250 is the authenticated port, 10255 the read-only port, `socket` the admin socket of the `nodelet` command.",
      "The healthz port (10248) serves `/healthz` and `/healthz/ping` only.",
      "On 10250 a client needs one of the rights: a verb on a subresource of `nodes`, for this node.",
    ]),
    ...table(["method", "path", "served on", "right on 10250", "meaning"], rows),
  ].join("\n");
}

function trusted(node: NodeRouteDeps): Route[] {
  const made = new TrustedRoutes({
    ...uncalled<ConstructorParameters<typeof TrustedRoutes>[0]>(),
    node,
    limits: CONNECTION_LIMITS,
    manifests: uncalled(),
    init: {
      enableDebuggingHandlers: true,
      enableSystemLogHandler: true,
      enableSystemLogQuery: true,
      enableProfilingHandler: true,
      enableDebugFlagsHandler: true,
      streamingConnectionIdleTimeoutMs: 0,
      podLogsDir: "",
      checkpointsDir: "",
      gates: {
        podLogsQuerySplitStreams: true,
        containerCheckpoint: true,
        componentFlagz: true,
        componentStatusz: true,
        extendWebSocketsToKubelet: true,
      },
      flags: [],
      kubernetesVersion: "",
      manifestApi: true,
    },
  });
  made.close();
  return made.routes;
}

/** As documents write paths: "/pods/{name}". */
function shown(path: string): string {
  const plain = path.replaceAll(/:(\w+)/g, "{$1}").replaceAll("*", "{path}");
  return plain.length > 1 ? plain.replace(/\/$/, "") : plain;
}

function methods({ methods: named, path }: Route): string {
  if (named !== undefined) return named.join(", ");
  return path === "/debug/flags/v" ? "PUT" : "any";
}

function rights({ methods: named = ["GET"], path }: Route): string {
  const verbs = path === "/debug/flags/v" ? ["update"] : named.map(verbOf);
  const subresources = subresourcesOf(path).map((name) => code(`nodes/${name}`));
  return `${verbs.join(", ")} on ${subresources.join(" or ")}`;
}

function meaningOf(path: string): string {
  const meaning = ENDPOINT_MEANINGS[path];
  if (meaning === undefined) throw new Error(`packaging/docs/endpoint-meanings.ts has no line for ${path}`);
  return meaning;
}
