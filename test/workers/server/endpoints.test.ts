// The small endpoints behind the gate: run, runningpods, checkpoint, configz, flagz, statusz, profiles, flags, health
// counts.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { wallTime } from "../../../src/shared/base/clock/moments.js";
import type { ServedRuntime } from "../../../src/workers/server/pods/runtime.js";
import { showPods } from "../../support/pod-list.js";
import { pod } from "../../support/pods.js";
import { until } from "../../support/sources-kit.js";
import { Certificates, SecurePort, type SecurePortOptions } from "./ports/secure-port-kit.js";

let certificates: Certificates;
let server: SecurePort;
before(async () => {
  certificates = await Certificates.create();
});
after(() => certificates.remove());
afterEach(() => server.close());
async function open(options: SecurePortOptions = {}): Promise<void> {
  server = await new SecurePort(certificates).open(options);
  showPods(server.pods, [pod()]);
}
async function ask(path: string, method = "GET", body?: string): Promise<[number, string]> {
  const answer = await server.ask(path, { method, ...(body === undefined ? {} : { body }) });
  return [answer.status, answer.body];
}

const runtime = (fields: object): Partial<ServedRuntime> => ({
  listContainers: (() =>
    Promise.resolve({ containers: [{ id: "c1", createdAt: 1n }] })) as unknown as ServedRuntime["listContainers"],
  ...fields,
});

describe("run", () => {
  test("gives the output of a command, split at single spaces", async () => {
    const asked: unknown[] = [];
    const execSync = (request: object) => {
      asked.push(request);
      return Promise.resolve({ stdout: Buffer.from("out\n"), stderr: Buffer.from("err\n"), exitCode: 0 });
    };
    await open({ runtime: runtime({ execSync }) });
    const answer = await server.ask("/run/default/web/app?cmd=ls+-l++/", { method: "POST" });
    deepEqual([answer.status, answer.body, answer.headers["content-type"]], [200, "out\nerr\n", "application/json"]);
    equal((await ask("/run/default/web/uid-web/app?cmd=x", "POST"))[0], 200);
    deepEqual(asked, [
      { containerId: "c1", cmd: ["ls", "-l", "", "/"] },
      { containerId: "c1", cmd: ["x"] },
    ]);
  });

  test("fails with the command, for an unknown pod, and for other methods", async () => {
    const execSync = () => Promise.resolve({ stdout: Buffer.of(), stderr: Buffer.from("no"), exitCode: 3 });
    await open({ runtime: runtime({ execSync }) });
    deepEqual(await ask("/run/default/web/app?cmd=false", "POST"), [500, "command 'false' exited with 3: no"]);
    deepEqual(await ask("/run/default/other/app?cmd=x", "POST"), [404, "pod does not exist"]);
    equal((await ask("/run/default/web/app?cmd=x"))[0], 405);
  });
});

test("runningpods: the runtime's running pods", async () => {
  const sandbox = (id: string, name: string, state: number): object => ({
    id,
    state,
    metadata: { name, namespace: "default", uid: `u-${name}` },
  });
  const container = (podSandboxId: string, name: string): object => ({
    podSandboxId,
    metadata: { name },
    image: { image: `${name}:1` },
  });
  await open({
    runtime: {
      listPodSandbox: (() =>
        Promise.resolve({
          items: [sandbox("s1", "web", 0), sandbox("s2", "gone", 1), sandbox("s3", "bare", 0)],
        })) as never,
      listContainers: (() => Promise.resolve({ containers: [container("s1", "a"), container("s1", "b")] })) as never,
    },
  });
  const item = (name: string, ...containers: string[]): object => ({
    metadata: { name, namespace: "default", uid: `u-${name}` },
    spec: { containers: containers.map((each) => ({ name: each, image: `${each}:1`, resources: {} })) },
    status: {},
  });
  const [status, body] = await ask("/runningpods/");
  equal(status, 200);
  deepEqual(JSON.parse(body), {
    kind: "PodList",
    apiVersion: "v1",
    metadata: {},
    items: [item("web", "a", "b"), item("bare")],
  });
});

describe("checkpoint", () => {
  test("names the archive; the last timeout counts", async () => {
    const asked: unknown[] = [];
    const checkpointContainer = (request: object) => Promise.resolve(void asked.push(request));
    // The time of the archive's name stands still; timers run.
    const clock = { ...systemClock, now: () => wallTime(0), nowNanos: () => 0n };
    await open({ clock, runtime: runtime({ checkpointContainer }) });
    const location = "/checkpoints/checkpoint-web_default-app-1970-01-01T00:00:00Z.tar";
    deepEqual(await ask("/checkpoint/default/web/app?timeout=1&timeout=7", "POST"), [200, `{"items":["${location}"]}`]);
    deepEqual(asked, [{ containerId: "c1", location, timeout: 7n }]);
    deepEqual(await ask("/checkpoint/default/web/app?timeout=x", "POST"), [
      404,
      "cannot parse value of timeout parameter",
    ]);
    deepEqual(await ask("/checkpoint/default/web/other", "POST"), [404, "container other does not exist"]);
    deepEqual(await ask("/checkpoint/default/other/app", "POST"), [404, "pod does not exist"]);
  });

  test("fails with the runtime, and is not there without its gate", async () => {
    await open({ runtime: runtime({ checkpointContainer: () => Promise.reject(new Error("unimplemented")) }) });
    deepEqual(await ask("/checkpoint/default/web/app", "POST"), [
      500,
      "checkpointing of default/web/app failed (unimplemented)",
    ]);
    await server.close();
    const off = {
      podLogsQuerySplitStreams: false,
      containerCheckpoint: false,
      componentFlagz: false,
      componentStatusz: false,
      extendWebSocketsToKubelet: false,
    };
    await open({ init: { gates: off } });
    for (const [path, method] of [
      ["/checkpoint/default/web/app", "POST"],
      ["/flagz", "GET"],
      ["/statusz", "GET"],
    ] as const) {
      equal((await ask(path, method))[0], 404, path);
    }
  });
});

test("configz, with origins on request", async () => {
  await open();
  const answer = await server.ask("/configz?origin=0");
  deepEqual(
    [answer.status, answer.body, answer.headers["content-type"]],
    [200, '{"kubeletconfig":{}}', "application/json"],
  );
  deepEqual(await ask("/configz?origin=1"), [200, '{"kubeletconfig":{},"origins":{}}']);
  equal((await ask("/configz", "POST"))[0], 200, "as upstream, whose handler asks for no method");
});

describe("flagz and statusz", () => {
  const accept = async (path: string, type: string): Promise<[number, string, string | undefined]> => {
    const { status, body, headers } = await server.ask(path, { headers: { accept: type } });
    return [status, body, headers["content-type"]];
  };
  test("both pages are plain text by default", async () => {
    await open();
    match((await ask("/flagz"))[1], /^\nkubelet flagz\nWarning: [^]*\nv=2\n$/);
    match(
      (await accept("/statusz", "text/html, */*"))[1],
      /^\nkubelet statusz\n[^]*\nStarted: \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d UTC \d{4}\nUp: \d+ hr \d\d min \d\d sec\nGo version: .*\nBinary version: 1\.36\.0\nEmulation version: 1\.36\nPaths: \/\w+ .*\/configz .*\/flagz( \/\w+)*\n/,
    );
  });
  test("are objects if the request names the kind", async () => {
    await open();
    const type = (kind: string, version = "v1beta1"): string =>
      `application/json;g=config.k8s.io;v=${version};as=${kind}`;
    const [status, body, contentType] = await accept("/flagz", type("Flagz"));
    deepEqual([status, contentType], [200, "application/json;g=config.k8s.io;v=v1beta1;as=Flagz"]);
    deepEqual(JSON.parse(body), {
      kind: "Flagz",
      apiVersion: "config.k8s.io/v1beta1",
      metadata: { name: "kubelet" },
      flags: { v: "2" },
    });
    const statusz = JSON.parse((await accept("/statusz", type("Statusz", "v1alpha1")))[1]) as Record<string, unknown>;
    match(String(statusz["startTime"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    ok(Array.isArray(statusz["paths"]) && Number(statusz["uptimeSeconds"]) >= 0);
    for (const wrong of ["application/json", type("Statusz"), type("Flagz", "v2"), "application/cbor"]) {
      const [refused, text, form] = await accept("/flagz", wrong);
      deepEqual([refused, form], [406, "application/json"], wrong);
      const { kind, reason, code } = JSON.parse(text) as Record<string, unknown>;
      deepEqual([kind, reason, code], ["Status", "NotAcceptable", 406]);
    }
  });
});

describe("/debug/flags/v", () => {
  test("PUT sets the verbosity of the kubelet", async () => {
    await open();
    deepEqual(await ask("/debug/flags/v", "PUT", "4"), [200, "successfully set klog.logging.verbosity to 4\n"]);
    deepEqual(server.verbosities, [4]);
    deepEqual(await ask("/debug/flags/v"), [406, "unsupported http method\n"]);
    for (const body of ["", "many", "-1", "+1", "1.5"]) {
      const text = `strconv.ParseUint: parsing "${body}": invalid syntax\n`;
      deepEqual(await ask("/debug/flags/v", "PUT", body), [400, text]);
    }
    for (const body of ["2147483648", "4".repeat(1000)]) equal((await ask("/debug/flags/v", "PUT", body))[0], 400);
    await server.close();
    await open({ init: { enableDebugFlagsHandler: false } });
    deepEqual(await ask("/debug/flags/v", "PUT", "4"), [405, "flags endpoint is disabled.\n"]);
  });
});

describe("/debug/pprof", () => {
  test("profiles in V8's formats, one at a time", async () => {
    await open();
    match((await ask("/debug/pprof/"))[1], /profile<\/a>/);
    await server.answered();
    const taken = server.ask("/debug/pprof/profile?seconds=1&thread=secure-server");
    await until(async () => (await server.inflight()) > 0);
    equal((await ask("/debug/pprof/heap?seconds=0.01&thread=secure-server"))[0], 409);
    const cpu = await taken;
    deepEqual(
      [cpu.status, cpu.headers["content-disposition"]],
      [200, 'attachment; filename="secure-server.cpuprofile"'],
    );
    ok(Array.isArray((JSON.parse(cpu.body) as { nodes: unknown }).nodes));
    const [status, heap] = await ask("/debug/pprof/heap?seconds=0.01&thread=secure-server");
    equal(status, 200);
    ok("head" in (JSON.parse(heap) as object));
    match((await ask("/debug/pprof/goroutine"))[1], /^threads: total 0\n/);
    for (const [path, code] of [
      ["mutex", 404],
      ["nothing", 404],
      ["profile?seconds=0", 400],
      ["profile?thread=x", 400],
    ] as const) {
      equal((await ask(`/debug/pprof/${path}`))[0], code, path);
    }
  });
  test("profiling can be switched off", async () => {
    await open({ init: { enableProfilingHandler: false } });
    deepEqual(await ask("/debug/pprof/heap"), [405, "profiling endpoint is disabled.\n"]);
  });
});

test("/metrics/slis counts health checks and forgets them on demand", async () => {
  await open();
  await ask("/healthz");
  await ask("/healthz/ping");
  const [, text] = await ask("/metrics/slis");
  match(text, /^kubernetes_healthcheck\{name="ping",type="healthz"\} 1$/m);
  match(text, /^kubernetes_healthchecks_total\{name="ping",status="success",type="healthz"\} 2$/m);
  deepEqual(await ask("/metrics/slis", "DELETE"), [200, "metrics reset\n"]);
  ok(!(await ask("/metrics/slis"))[1].includes("kubernetes_healthchecks_total{"));
});

test("without enableDebuggingHandlers routes that show or change pods are off, the rest is not", async () => {
  await open({ init: { enableDebuggingHandlers: false } });
  const message = "Debug endpoints are disabled.\n";
  for (const path of [
    "/run/a/b/c",
    "/exec/a/b/c",
    "/attach/a/b/c",
    "/portForward/a/b",
    "/containerLogs/a/b/c",
    "/runningpods/",
    "/logs/",
    "/debug/pprof/",
  ]) {
    deepEqual(await ask(path), [405, message], path);
  }
  equal((await ask("/configz"))[0], 404);
  for (const path of ["/pods", "/healthz", "/metrics"]) equal((await ask(path))[0], 200, path);
});
