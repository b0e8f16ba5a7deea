// Which route a decoded path has, and the values of its open segments.

import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { pathSegments } from "../../../../src/shared/io/http/target.js";
import type { Route } from "../../../../src/workers/server/http/answer.js";
import { RouteTable } from "../../../../src/workers/server/http/route-table.js";

const PATHS = [
  "/",
  "/pods",
  "/logs/*",
  "/exec/:namespace/:pod/:container",
  "/exec/:namespace/:pod/:uid/:container",
  "/debug/pprof/*",
  "/debug/flags/v",
  "/debug/pods/:namespace/:name/timeline",
  "/run/:namespace",
  "/run/all",
] as const;
const SERVICES: Readonly<Partial<Record<string, Route["service"]>>> = {
  "/pods": "/pods",
  "/logs/*": "/logs/",
  "/exec/:namespace/:pod/:container": "/exec",
  "/debug/pprof/*": "/debug/pprof/",
};
function routeOf(path: Route["path"]): Route {
  const { [path]: service } = SERVICES;
  return { path, answer: () => undefined, ...(service !== undefined && { service }) };
}
const segmentsOf = (path: string): readonly string[] => pathSegments(path).segments;
const table = new RouteTable(PATHS.map(routeOf));

test("a path has the route whose segments it has, with the values of the open ones", () => {
  const rows: [string, string, Record<string, string>][] = [
    ["/", "/", {}],
    ["/pods", "/pods", {}],
    ["/pods/", "/pods", {}],
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
    ["/exec/ns/web/c/", "/exec/:namespace/:pod/:container", { namespace: "ns", pod: "web", container: "c" }],
    ["/exec/ns/web%2fc", "/exec/:namespace/:pod/:container", { namespace: "ns", pod: "web", container: "c" }],
    ["/logs/a%2fb", "/logs/*", { "*": "a/b" }],
    ["/run/all", "/run/all", {}],
    ["/run/other", "/run/:namespace", { namespace: "other" }],
  ];
  for (const [path, route, params] of rows) {
    const found = table.find(segmentsOf(path));
    deepEqual([found?.route.path, found?.params], [route, params], path);
  }
});

test("every other path has none", () => {
  const others = [
    "//",
    "/pods//",
    "/PODS",
    "/podsx",
    "/exec/ns/web",
    "/exec/ns//c",
    "/exec//web/c",
    "/exec/ns/web/u/c/",
  ];
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
    "/logs",
    "/pods%2f",
    "/exec%2fns/web/c",
    "/debug%2fpprof/heap",
    "/run%2fall",
    "/run/all/",
  );
  for (const path of others) equal(table.find(segmentsOf(path)), undefined, path);
});

test("a web service's path is found without its final slash, and no other path is", () => {
  const rows: [string, string | undefined][] = [
    ["/logs", "/logs/"],
    ["/debug/pprof", "/debug/pprof/"],
    ["/%6cogs", "/logs/"],
    ["/logs/", undefined],
    ["/debug%2fpprof", undefined],
    ["/pods", undefined],
    ["/exec", undefined],
    ["/nothing", undefined],
  ];
  for (const [path, slashed] of rows) equal(table.slashedPath(segmentsOf(path)), slashed, path);
});

test("two routes with the same segments are a defect", () => {
  throws(() => new RouteTable([routeOf("/run/:namespace"), routeOf("/run/:pod")]), /two routes have the path \/run\/:/);
});
