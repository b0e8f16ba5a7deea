import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { podPath } from "../../../src/workers/apiserver/kubelet/pod-path.js";
import type { ApiObject } from "../../../src/workers/apiserver/objects/object.js";

const named = (...names: string[]): object[] => names.map((name) => ({ name }));
const pod = (spec: object): ApiObject =>
  ({ apiVersion: "v1", kind: "Pod", metadata: { name: "web", namespace: "default" }, spec }) as unknown as ApiObject;
const logs = (spec: object, container = ""): string =>
  podPath(pod(spec), "log", new URLSearchParams(container === "" ? {} : { container }));

test("logs without a container are those of the only app container, beside init and debug containers", () => {
  equal(logs({ containers: named("app") }), "/containerLogs/default/web/app");
  const beside = { containers: named("app"), initContainers: named("init"), ephemeralContainers: named("debug") };
  equal(logs(beside), "/containerLogs/default/web/app");
  equal(logs(beside, "init"), "/containerLogs/default/web/init");
  equal(logs(beside, "debug"), "/containerLogs/default/web/debug");
});

test("logs of a pod with several app containers need a name, and the refusal lists all", () => {
  const spec = { containers: named("a", "b"), initContainers: named("i") };
  throws(() => logs(spec), /must be specified for pod web, choose one of: \[i a b\]/);
  throws(() => logs(spec, "c"), /container c is not valid for pod web/);
});
