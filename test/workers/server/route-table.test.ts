// Which route a decoded path has, and the values of its open segments.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { Route } from "../../../src/workers/server/answer.js";
import { RouteTable } from "../../../src/workers/server/route-table.js";

const PATHS = [
  "/",
  "/pods",
  "/pods/",
  "/logs",
  "/logs/*",
  "/exec/:namespace/:pod/:container",
  "/exec/:namespace/:pod/:uid/:container",
  "/debug/pprof",
  "/debug/pprof/*",
  "/debug/flags/v",
  "/debug/pods/:namespace/:name/timeline",
  "/run/:namespace",
  "/run/all",
] as const;
const routeOf = (path: Route["path"]): Route => ({ path, answer: () => undefined });
const table = new RouteTable(PATHS.map(routeOf));

test("a path has the route whose segments it has, with the values of the open ones", () => {
  const rows: [string, string, Record<string, string>][] = [
    ["/", "/", {}],
    ["/pods", "/pods", {}],
    ["/pods/", "/pods/", {}],
    ["/logs", "/logs", {}],
    ["/logs/", "/logs/*", { "*": "" }],
    ["/logs/a//../b", "/logs/*", { "*": "a//../b" }],
    ["/exec/ns/web/c", "/exec/:namespace/:pod/:container", { namespace: "ns", pod: "web", container: "c" }],
    [
      "/exec/ns/web/u/c",
      "/exec/:namespace/:pod/:uid/:container",
      { namespace: "ns", pod: "web", uid: "u", container: "c" },
    ],
    ["/debug/pprof/heap", "/debug/pprof/*", { "*": "heap" }],
    ["/debug/pods/ns/web/timeline", "/debug/pods/:namespace/:name/timeline", { namespace: "ns", name: "web" }],
    ["/run/all", "/run/all", {}],
    ["/run/other", "/run/:namespace", { namespace: "other" }],
  ];
  for (const [path, route, params] of rows) {
    const found = table.find(path);
    deepEqual([found?.route.path, found?.params], [route, params], path);
  }
});

test("every other path has none", () => {
  const others = ["//", "/pods//", "/PODS", "/podsx", "/exec/ns/web", "/exec/ns//c", "/exec//web/c", "/exec/ns/web/c/"];
  others.push(
    "/exec/a/b/c/d/e",
    "/debug",
    "/debug/flags",
    "/run/",
    "/run",
    "/toString",
    "/__proto__",
    "//pods",
    "/ pods",
  );
  for (const path of others) equal(table.find(path), undefined, path);
});

test("two routes with the same segments are a defect", () => {
  throws(() => new RouteTable([routeOf("/run/:namespace"), routeOf("/run/:pod")]), /two routes have the path \/run\/:/);
});
