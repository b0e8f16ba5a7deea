// The client's rules that need no runtime: deadlines, endpoints, reply checks, version, readiness, cgroup driver.

import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock, type Clock } from "../../../../src/shared/base/clock/clock.js";
import { chooseCgroupDriver } from "../../../../src/shared/kubernetes/cri/cgroup-driver.js";
import { deadlineFor, timeoutSecondsOf } from "../../../../src/shared/kubernetes/cri/deadlines.js";
import { InvalidEndpointError, parseEndpoint } from "../../../../src/shared/kubernetes/cri/endpoint.js";
import { criError, CriUnavailableError, type CriCode } from "../../../../src/shared/kubernetes/cri/errors.js";
import * as gen from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import * as checks from "../../../../src/shared/kubernetes/cri/reply-checks.js";
import type { CriVerb } from "../../../../src/shared/kubernetes/cri/verbs.js";
import { readRuntimeStatus } from "../../../../src/workers/pleg/runtime-status.js";

test("deadlines per verb, default 120 s", () => {
  const cases: [CriVerb, number, number | undefined][] = [
    ["Version", 0, 120_000],
    ["RunPodSandbox", 0, 240_000],
    ["StopContainer", 30, 150_000],
    ["StopContainer", 0, 120_000],
    ["ExecSync", 0, undefined],
    ["ExecSync", 5, 125_000],
    ["CheckpointContainer", 0, 120_000],
    ["CheckpointContainer", 300, 300_000],
    ["PullImage", 0, undefined],
    ["GetContainerEvents", 0, undefined],
    ["StreamContainers", 0, 120_000],
    ["ListContainerStats", 0, 120_000],
    ["StopContainer", -1, 120_000],
  ];
  for (const [verb, timeout, expected] of cases) {
    assert.equal(deadlineFor(verb, timeout, 120_000), expected, `${verb} with timeout ${timeout}`);
  }
  assert.equal(timeoutSecondsOf(gen.StopContainerRequest.fromPartial({ timeout: 7n })), 7);
  assert.equal(timeoutSecondsOf(gen.VersionRequest.fromPartial({})), 0);
});

test("an endpoint names a unix socket", () => {
  const path = "/run/containerd/containerd.sock";
  assert.deepEqual(parseEndpoint(`unix://${path}`), { path, bare: false });
  assert.deepEqual(parseEndpoint(`unix:${path}`), { path, bare: false });
  assert.deepEqual(parseEndpoint(path), { path, bare: true });
  for (const bad of [
    "",
    "tcp://127.0.0.1:1",
    "npipe:////./pipe/x",
    "unix://run/x.sock",
    "x.sock",
    `/${"d".repeat(107)}`,
  ]) {
    assert.throws(
      () => parseEndpoint(bad),
      (error) => error instanceof InvalidEndpointError && error.message.includes("unix:///run"),
      bad,
    );
  }
});

const STATUS = { id: "i", metadata: {}, createdAt: 1n };
const CONTAINER = { ...STATUS, image: { image: "a:1" }, imageRef: "sha256:1" };

test("reply checks: one missing thing at a time", () => {
  const sandbox = (status?: object) =>
    checks.checkPodSandboxStatus(gen.PodSandboxStatusResponse.fromPartial({ status }));
  const container = (status?: object) =>
    checks.checkContainerStatus(gen.ContainerStatusResponse.fromPartial({ status }));
  const status = (...types: string[]) =>
    checks.checkStatus(gen.StatusResponse.fromPartial({ status: { conditions: types.map((type) => ({ type })) } }));
  const image = (fields?: object) => checks.checkImageStatus(gen.ImageStatusResponse.fromPartial({ image: fields }));
  const cases: [string | undefined, RegExp | undefined][] = [
    [checks.checkRunPodSandbox({ podSandboxId: "s" }), undefined],
    [checks.checkRunPodSandbox({ podSandboxId: "" }), /pod_sandbox_id/],
    [checks.checkCreateContainer({ containerId: "c" }), undefined],
    [checks.checkCreateContainer({ containerId: "" }), /container_id/],
    [sandbox(STATUS), undefined],
    [sandbox(), /no status/],
    [sandbox({ ...STATUS, id: "" }), /no id/],
    [sandbox({ ...STATUS, metadata: undefined }), /metadata/],
    [sandbox({ ...STATUS, createdAt: 0n }), /created_at/],
    [container(CONTAINER), undefined],
    [container(), /no status/],
    [container({ ...CONTAINER, id: "" }), /no id/],
    [container({ ...CONTAINER, metadata: undefined }), /metadata/],
    [container({ ...CONTAINER, createdAt: 0n }), /created_at/],
    [container({ ...CONTAINER, image: undefined }), /no image/],
    [container({ ...CONTAINER, image: { image: "" } }), /no image/],
    [container({ ...CONTAINER, imageRef: "" }), /image_ref/],
    [status("RuntimeReady", "NetworkReady"), undefined],
    [status("RuntimeReady"), /NetworkReady/],
    [status(), /RuntimeReady and NetworkReady/],
    [checks.checkPullImage({ imageRef: "r" }), undefined],
    [checks.checkPullImage({ imageRef: "" }), /image_ref/],
    [image(), undefined],
    [image({ id: "i", size: 1n }), undefined],
    [image({ size: 1n }), /no id/],
    [image({ id: "i" }), /no size/],
    [checks.checkUrl({ url: "http://x" }), undefined],
    [checks.checkUrl({ url: "" }), /url/],
  ];
  for (const [index, [said, expected]] of cases.entries()) {
    if (expected === undefined) assert.equal(said, undefined, `case ${index}`);
    else assert.match(said ?? "", expected, `case ${index}`);
  }
});

const failing = (code: CriCode, verb: string) =>
  Promise.reject(criError({ code, verb, details: "said so", endpoint: "unix:///x" }));

test("the runtime's conditions become its status", () => {
  const ready = gen.StatusResponse.fromPartial({
    status: {
      conditions: [
        { type: "RuntimeReady", status: true },
        { type: "NetworkReady", status: false, reason: "NetworkPluginNotReady", message: "no CNI" },
      ],
    },
    runtimeHandlers: [{ name: "runc" }],
  });
  const read = readRuntimeStatus(ready);
  assert.equal(read.runtimeReady.status, true);
  const { type, status, reason, message } = read.networkReady;
  assert.deepEqual(
    { type, status, reason, message },
    { type: "NetworkReady", status: false, reason: "NetworkPluginNotReady", message: "no CNI" },
  );
  assert.equal(read.handlers[0]?.name, "runc");
  assert.equal(readRuntimeStatus(gen.StatusResponse.fromPartial({})).runtimeReady.status, false);
});

test("cgroup driver: the runtime's word, else the configuration's; 3 tries, 2 s apart", async () => {
  const slept: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
  };
  const answers = (...replies: (gen.RuntimeConfigResponse | CriCode)[]) => ({
    runtimeConfig: () => {
      const next = replies.shift() ?? "INTERNAL";
      return typeof next === "string" ? failing(next, "RuntimeConfig") : Promise.resolve(next);
    },
  });
  const replying = (driver: gen.CgroupDriver): gen.RuntimeConfigResponse => ({ linux: { cgroupDriver: driver } });
  // On the wire: linux { cgroup_driver: 7 }, a driver of the future.
  const unknownDriver = gen.RuntimeConfigResponse.decode(Uint8Array.of(0x0a, 2, 0x08, 7));
  const choose = (...replies: (gen.RuntimeConfigResponse | CriCode)[]) =>
    chooseCgroupDriver(answers(...replies), "cgroupfs", { clock });

  assert.deepEqual(await choose(replying(gen.CgroupDriver.SYSTEMD)), { driver: "systemd", source: "runtime" });
  assert.deepEqual(await choose(replying(gen.CgroupDriver.CGROUPFS)), { driver: "cgroupfs", source: "runtime" });
  for (const silent of ["UNIMPLEMENTED", { linux: undefined }, unknownDriver] as const) {
    const choice = await choose(silent);
    assert.equal(choice.driver, "cgroupfs");
    assert.equal(choice.source, "configuration");
  }
  assert.deepEqual(slept, []);
  assert.equal((await choose("UNAVAILABLE", "INTERNAL", replying(gen.CgroupDriver.SYSTEMD))).driver, "systemd");
  assert.deepEqual(slept, [2000, 2000]);
  await assert.rejects(
    choose("UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE", replying(gen.CgroupDriver.SYSTEMD)),
    CriUnavailableError,
  );
});
