// docs/reference/endpoints.md: the routes of each port as the server makes them, with what a client must be allowed to
// do. The routes are made with everything turned on, and never called.

import { nodeletRoutes, type AdminRouteDeps } from "../../src/workers/server/admin/admin-routes.js";
import { subresourcesOf, verbOf } from "../../src/workers/server/auth/attributes.js";
import { nodeChecks } from "../../src/workers/server/health/health.js";
import { HealthSlis } from "../../src/workers/server/health/slis.js";
import type { Route } from "../../src/workers/server/http/answer.js";
import { pageRoutes } from "../../src/workers/server/page/page-routes.js";
import { CONNECTION_LIMITS } from "../../src/workers/server/ports/https-server.js";
import { nodeRoutes, type NodeRouteDeps } from "../../src/workers/server/routes.js";
import { Stats } from "../../src/workers/server/stats/index.js";
import { TrustedRoutes, type TrustedDeps } from "../../src/workers/server/trusted-routes.js";
import { ENDPOINT_MEANINGS } from "./endpoint-meanings.js";
import { code, heading, table } from "./table.js";

/** Dependencies of routes that are made and not called: those that are needed to make them. */
const part = <T extends object>(needed: Partial<T>): T => needed as T;

export function endpointsPage(): string {
  const node = part<NodeRouteDeps>({
    checks: nodeChecks(part({}), 0),
    slis: new HealthSlis(),
    stats: new Stats(part({})),
  });
  const readOnly = new Set(nodeRoutes(node).map(({ path }) => path));
  const secure = [...trusted(node), ...pageRoutes(part({}))];
  const admin = nodeletRoutes(part<AdminRouteDeps>({ node }));
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
  if (unused.length > 0) throw new Error(`tools/docs/endpoint-meanings.ts: no such endpoint: ${unused.join(", ")}`);
  return [
    ...heading("HTTP endpoints", [
      "Every path that the kubelet serves. 10250 is the authenticated port, 10255 the read-only port, `socket` the admin socket of the `nodelet` command.",
      "With `--read-only-pods=false`, as in the packages and in `npm start`, 10255 serves no `/pods` and no timelines.",
      "Over loopback, 10255, 10248 and the status page's port respond to localhost, 127.0.0.1 and [::1] only (421 otherwise).",
      "Requests are read as Go's server reads them ([ADR 0096](../adr/0096-requests-as-go-reads-them.md)). A path that is not clean (`//healthz`), or `/logs`, `/stats`, `/runningpods`, `/checkpoint` and `/debug/pprof` without a final slash, is redirected (307), before authentication. A final slash behind other paths with names in them, `/pods` and `/stats/summary` means nothing.",
      "The healthz port (10248) serves `/healthz` and `/healthz/ping` only.",
      "On 10250 a client needs one of the rights: a verb on a subresource of `nodes`, for this node ([Security model](../security.md)).",
    ]),
    ...table(["method", "path", "served on", "right on 10250", "meaning"], rows),
  ].join("\n");
}

function trusted(node: NodeRouteDeps): Route[] {
  const made = new TrustedRoutes(
    part<TrustedDeps>({
      node,
      limits: CONNECTION_LIMITS,
      manifests: () => Promise.reject(new Error("no route is called")),
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
    }),
  );
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

/** Shown for routes that take every method. */
const OTHER_VERBS: Readonly<Partial<Record<string, readonly string[]>>> = {
  "/debug/flags/v": ["update"],
  "/metrics/slis": ["get", "delete"],
};

function rights({ methods: named = ["GET"], path }: Route): string {
  const verbs = OTHER_VERBS[path] ?? named.map(verbOf);
  const subresources = subresourcesOf(path).map((name) => code(`nodes/${name}`));
  return `${verbs.join(", ")} on ${subresources.join(" or ")}`;
}

function meaningOf(path: string): string {
  const meaning = ENDPOINT_MEANINGS[path];
  if (meaning === undefined) throw new Error(`tools/docs/endpoint-meanings.ts has no line for ${path}`);
  return meaning;
}
