// The environment of a container on a node: with and without a cluster, and from files that the pod wrote itself.
// @promise Pods: A file of fileKeyRef is read once for all variables of a container; its values are limited to 6 MiB.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { servicesNotReadError } from "../../../../src/main/cluster/collections/services.js";
import { environmentOf } from "../../../../src/main/containers/runtime/container-env.js";
import type { VolumePlace } from "../../../../src/main/volumes/place.js";
import type { Container, EnvVar, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { temporaryFolder } from "../../../support/sources-kit.js";
import { base64, clusterKit } from "../../volumes/objects/cluster-kit.js";
import { app, never, podOf, runtimeOn } from "./runtime-kit.js";

const API = {
  metadata: { name: "kubernetes", namespace: "default" },
  spec: { clusterIP: "10.0.0.1", ports: [{ port: 443 }] },
};

async function world(t: TestContext, source: "api" | "file" = "api") {
  const { runtime, events } = await runtimeOn(t);
  const kit = clusterKit();
  const services: { now: (typeof API)[] | undefined } = { now: [API] };
  const objects = {
    ...kit.objects,
    knownServices: () => services.now,
    services: () =>
      services.now === undefined ? Promise.reject(servicesNotReadError()) : Promise.resolve(services.now),
  };
  const volumes = new Map<string, VolumePlace>();
  const env = async (container: Partial<Container>, spec: Partial<PodSpec> = {}): Promise<Record<string, string>> => {
    const pod = podOf({ ...app(), ...container }, { enableServiceLinks: true, ...spec });
    pod.metadata.annotations = { "kubernetes.io/config.source": source };
    const [main = app()] = pod.spec.containers;
    const found = await environmentOf(runtime, { pod, container: main, podIPs: ["10.1.1.1"], volumes, signal: never });
    return Object.fromEntries(found);
  };
  return { ...kit, runtime, events, env, services, volumes, objects, join: () => (runtime.cluster = () => objects) };
}

const key = (kind: "configMapKeyRef" | "secretKeyRef", name: string): EnvVar => ({
  name: "X",
  valueFrom: { [kind]: { name, key: "k" } },
});

test("values of the cluster's objects, and its services", async (t) => {
  const { env, join, configMaps, secrets } = await world(t);
  join();
  configMaps.set("cm", { metadata: {}, data: { k: "from map" } });
  secrets.set("s", { metadata: {}, data: { k: base64("gehe\xefm") } });
  assert.equal((await env({ env: [key("configMapKeyRef", "cm")] }))["X"], "from map");
  assert.equal((await env({ env: [key("secretKeyRef", "s")] }))["X"], "gehe\xefm");
  assert.equal((await env({}, { enableServiceLinks: false }))["KUBERNETES_SERVICE_HOST"], "10.0.0.1");
  await assert.rejects(env({ env: [key("secretKeyRef", "no")] }), /secret "no" not found/);
});

test("names that no process can have are an event of the pod", async (t) => {
  const { env, join, configMaps, events } = await world(t);
  join();
  configMaps.set("cm", { metadata: {}, data: { b: "1", a: "2" } });
  await env({ envFrom: [{ prefix: "=", configMapRef: { name: "cm" } }] });
  assert.match(
    events[0] ?? "",
    /InvalidEnvironmentVariableNames: Keys \[=a, =b\] from the EnvFrom configMap default\/cm were skipped since they are considered invalid environment variable names\.$/,
  );
});

test("pods of the API wait for the first list of services, static pods do not", async (t) => {
  const fromApi = await world(t);
  fromApi.join();
  fromApi.services.now = undefined;
  await assert.rejects(fromApi.env({}), /services have not yet been read at least once/);
  const fromFile = await world(t, "file");
  fromFile.join();
  fromFile.services.now = undefined;
  assert.deepEqual(await fromFile.env({}), {});
  fromFile.services.now = [API];
  assert.equal((await fromFile.env({}))["KUBERNETES_SERVICE_PORT"], "443");
});

test("before the kubelet has joined", async (t) => {
  const { env, runtime } = await world(t, "file");
  runtime.cluster = () => undefined;
  assert.deepEqual(await env({}), {});
  await assert.rejects(env({ env: [key("configMapKeyRef", "cm")] }), /has not joined its cluster yet/);
});

test("without a cluster there are no objects", async (t) => {
  const { env } = await world(t, "file");
  assert.deepEqual(await env({}), {});
  await assert.rejects(
    env({ env: [key("configMapKeyRef", "cm")] }),
    /couldn't get configMap default\/cm, no kubeClient defined/,
  );
  await assert.rejects(
    env({ env: [key("secretKeyRef", "s")] }),
    /couldn't get secret default\/s, no kubeClient defined/,
  );
});

test("from a file in a volume; a path that leads out of it is not read", async (t) => {
  const { env, volumes, runtime } = await world(t, "file");
  const folder = await temporaryFolder(t);
  mkdirSync(`${folder}/v/sub`, { recursive: true });
  volumes.set("v", { hostPath: `${folder}/v` });
  writeFileSync(`${folder}/outside`, "K='stolen'\n");
  writeFileSync(`${folder}/v/sub/env`, "K='v1'\nLONG='" + "x".repeat(132_000) + "'\n");
  symlinkSync("../outside", `${folder}/v/out`);
  symlinkSync("sub/env", `${folder}/v/in`);
  execFileSync("mkfifo", [`${folder}/v/pipe`]);
  const file = (path: string, more: object = {}): Promise<Record<string, string>> => {
    const fileKeyRef = { volumeName: "v", path, key: "K", ...more };
    return env({ env: [{ name: "X", valueFrom: { fileKeyRef } }] });
  };
  assert.deepEqual(await file("sub/env"), { X: "v1" });
  assert.deepEqual(await file("/sub/env"), { X: "v1" });
  assert.deepEqual(await file("in"), { X: "v1" });
  assert.deepEqual(await file("sub/env", { key: "NONE", optional: true }), {});
  await assert.rejects(
    file("sub/env", { key: "NONE" }),
    /environment variable key "NONE" not found in file "sub\/env"/,
  );
  await assert.rejects(file("sub/env", { key: "LONG" }), /larger than 131072 bytes/);
  await assert.rejects(file("sub/env", { volumeName: "w" }), /cannot find the volume "w" referenced by FileKeyRef/);
  for (const path of ["out", "../outside", "none", "sub", "pipe"]) {
    await assert.rejects(file(path, { optional: true }), /^CreateContainerConfigError: couldn't parse env file$/, path);
  }
  runtime.settings = { ...runtime.settings, envFiles: false };
  await assert.rejects(file("sub/env"), /a source this node does not support/);
});

/** Bytes that this process has asked the kernel for. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

test("a file is read once for all variables of a container", async (t) => {
  const { env, volumes } = await world(t, "file");
  const folder = await temporaryFolder(t);
  volumes.set("v", { hostPath: folder });
  const count = 100;
  const values = Array.from({ length: count }, (_, at) => `K${at}='v${at}'\n`).join("");
  const filler = `# ${"x".repeat(900_000)}\n`;
  writeFileSync(`${folder}/env`, filler + values);
  const before = bytesRead();
  const found = await env({
    env: Array.from({ length: count }, (_, at) => ({
      name: `X${at}`,
      valueFrom: { fileKeyRef: { volumeName: "v", path: "env", key: `K${at}` } },
    })),
  });
  const read = bytesRead() - before;
  assert.equal(found["X99"], "v99");
  assert.ok(read < 10 * filler.length, `${read} bytes were read of a file of ${filler.length}`);
});

test("values of files have a limit in total", async (t) => {
  const { env, volumes } = await world(t, "file");
  const folder = await temporaryFolder(t);
  volumes.set("v", { hostPath: folder });
  writeFileSync(`${folder}/env`, `K='${"x".repeat(32_000)}'`);
  const variables = Array.from({ length: 200 }, (_, at) => ({
    name: `X${at}`,
    valueFrom: { fileKeyRef: { volumeName: "v", path: "env", key: "K" } },
  }));
  assert.equal(Object.keys(await env({ env: variables.slice(0, 150) })).length, 150);
  await assert.rejects(env({ env: variables }), /larger than 6291456 bytes: no process can be started/);
  const path = "a/".repeat(3000);
  const long = { name: "X", valueFrom: { fileKeyRef: { volumeName: "v", path, key: "K" } } };
  await assert.rejects(env({ env: [long] }), /longer than 4096 bytes/);
});

test("variables name the address of the node's first family first, as the status does", async (t) => {
  const { runtime } = await runtimeOn(t);
  const field = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const container = { ...app(), env: [field("IP", "status.podIP"), field("IPS", "status.podIPs")] };
  const podIPs = ["10.1.1.1", "10.1.1.2", "fd00:0::2"];
  for (const [nodeIPs, expected] of [
    [["192.0.2.1", "2001:db8::1"], "10.1.1.1,fd00::2"],
    [["2001:db8::1", "192.0.2.1"], "fd00::2,10.1.1.1"],
    [["2001:db8::1"], "fd00::2,10.1.1.1"],
    [[], "10.1.1.1,fd00::2"],
  ] as const) {
    const node = { ...runtime.node, nodeIPs };
    const request = { pod: podOf(container), container, podIPs, volumes: new Map(), signal: never };
    const found = await environmentOf({ ...runtime, node }, request);
    assert.deepEqual([found.get("IP"), found.get("IPS")], [expected.split(",")[0], expected], nodeIPs.join());
  }
});

test("a container that names thousands of objects has sixteen reads under way", async (t) => {
  const { env, runtime, objects } = await world(t);
  let [running, most, reads] = [0, 0, 0];
  const get = async (): Promise<never> => {
    reads++;
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    return { metadata: {}, data: { k: "v" } } as never;
  };
  runtime.cluster = () => ({ ...objects, configMaps: { get } });
  const envFrom = Array.from({ length: 1000 }, (_, index) => ({
    prefix: `P${index}_`,
    configMapRef: { name: `m${index}` },
  }));
  assert.equal(Object.keys(await env({ envFrom })).filter((name) => name.startsWith("P")).length, 1000);
  assert.deepEqual([reads, most], [1000, 16]);
});
