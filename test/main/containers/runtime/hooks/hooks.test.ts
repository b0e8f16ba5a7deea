// Hooks in their place: postStart after the start, preStop before the stop, each once, within one deadline.
// @promise Probes and hooks: A preStop hook runs once per container, also if the stop is repeated, shortened, or
//   continued by the next process.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Doer } from "../../../../../src/main/containers/runtime/doer.js";
import { noMemory, type PreStopMemory } from "../../../../../src/main/containers/runtime/hooks/pre-stops.js";
import { killMessage } from "../../../../../src/main/containers/runtime/kill-container.js";
import { StartContainerError } from "../../../../../src/main/model/step-errors.js";
import type { KillContainerStep } from "../../../../../src/main/model/step.js";
import { later, steadyTime } from "../../../../../src/shared/base/clock/moments.js";
import type { InspectHint } from "../../../../../src/shared/contracts/pleg.js";
import type { Lifecycle, LifecycleHandler, Pod } from "../../../../../src/shared/kubernetes/api/pod.js";
import { podUid, containerIdOf } from "../../../../../src/shared/kubernetes/identifiers.js";
import type { FakeCriOptions } from "../../../../fake-cri/fake-cri.js";
import { until } from "../../../../support/sources-kit.js";
import { settle } from "../../../../support/sync-kit.js";
import { app, never, podOf, runtimeOn, startStep } from "../runtime-kit.js";

const HOUR_MS = 3_600_000;
const command = (...words: string[]): LifecycleHandler => ({ exec: { command: words } });

async function build(t: TestContext, lifecycle: Lifecycle, fakeOptions: Partial<FakeCriOptions> = {}) {
  const world = await runtimeOn(t, fakeOptions);
  const done = new Set<string>();
  const memory = {
    has: (id: string) => done.has(id),
    add: (id: string) => void done.add(id),
    onObserved: () => undefined,
  };
  const doerOf = (kept: PreStopMemory = memory): Doer =>
    new Doer(world.runtime, podUid("uid-web"), () => undefined, kept);
  const doer = doerOf();
  const container = app({ lifecycle });
  const pod = podOf(container);
  const progress: InspectHint[][] = [];
  const start = async (signal = never): Promise<string> => {
    const [sandbox] = await doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "" }, signal);
    const step = startStep(container, sandbox?.id ?? "");
    const [hint] = await doer.execute(pod, step, signal, (hints) => progress.push(hints));
    return hint?.id ?? "";
  };
  const killStep = (containerId: string, graceSeconds: number, reason = "the pod goes"): KillContainerStep => ({
    kind: "kill-container",
    containerId: containerIdOf(containerId),
    name: "app",
    graceSeconds,
    deadline: later(world.clock.steady(), graceSeconds * 1000),
    reason,
  });
  const kill = (known: Pod | undefined, step: KillContainerStep, signal = never, by = doer) =>
    by.execute(known, step, signal);
  /** The verbs that matter here, in the order they reached the runtime. */
  const order = (): string[] =>
    world.fake.calls
      .map(({ verb }) => verb)
      .filter((verb) => ["StartContainer", "ExecSync", "StopContainer"].includes(verb));
  const stops = (): unknown[] => world.calls("StopContainer").map((call) => (call as { timeout: bigint }).timeout);
  return { ...world, memory, doer, doerOf, container, pod, progress, start, killStep, kill, order, stops };
}

test("a container's start is reported: created, started", async (t) => {
  const world = await build(t, {});
  await world.start();
  assert.deepEqual(world.events, [
    "web app Normal Created: Container created",
    "web app Normal Started: Container started",
  ]);
});

test("a failed start is reported with the runtime's message, an image failure with its name", async (t) => {
  for (const [verb, expected] of [
    ["CreateContainer", "Error: boom"],
    ["StartContainer", "Error: boom"],
    ["PullImage", "Error: ErrImagePull"],
  ] as const) {
    const world = await build(t, {}, verb === "PullImage" ? { images: [] } : {});
    world.fake.failpoint(verb, "error(UNKNOWN: boom)");
    await assert.rejects(world.start(), StartContainerError);
    assert.equal(world.events.at(-1), `web app Warning Failed: ${expected}`, verb);
  }
});

test("a failed sandbox is reported as upstream reports it", async (t) => {
  const world = await build(t, {});
  world.fake.failpoint("RunPodSandbox", "error(FAILED_PRECONDITION: no network)");
  await assert.rejects(world.start(), /no network/);
  const text = "Failed to create pod sandbox: rpc error: code = FailedPrecondition desc = no network";
  assert.deepEqual(world.events, [`web  Warning FailedCreatePodSandBox: ${text}`]);
});

test("postStart runs after the start, and the running container is reported before the hook ends", async (t) => {
  const world = await build(t, { postStart: command("warm-up") }, { exec: () => ({ runMs: HOUR_MS }) });
  const abort = new AbortController();
  const given = assert.rejects(world.start(abort.signal), (error) => !(error instanceof StartContainerError));
  await until("the hook runs", () => world.calls("ExecSync").length === 1);
  assert.deepEqual(world.order(), ["StartContainer", "ExecSync"]);
  assert.deepEqual(world.progress, [[{ kind: "container", id: [...world.fake.state.containers.keys()][0] }]]);
  abort.abort(new Error("the pod is being terminated"));
  await given;
  assert.deepEqual(world.stops(), [], "who terminates the pod stops its containers");
});

test("a postStart that fails takes its container down, preStop included", async (t) => {
  const exec: FakeCriOptions["exec"] = (_id, [word]) => (word === "fail" ? { exitCode: 1, stderr: "cold" } : {});
  const world = await build(t, { postStart: command("fail"), preStop: command("bye") }, { exec });
  await assert.rejects(world.start(), (error) => {
    assert.ok(error instanceof StartContainerError);
    assert.equal(error.reason, "PostStartHookError");
    assert.match(
      error.message,
      /^Exec lifecycle hook \(\[fail\]\) for Container "app" in Pod "web_default\(uid-web\)"/,
    );
    return true;
  });
  assert.deepEqual(world.order(), ["StartContainer", "ExecSync", "ExecSync", "StopContainer"]);
  assert.deepEqual(world.events.slice(2), [
    "web app Warning FailedPostStartHook: PostStartHook failed",
    "web app Normal Killing: FailedPostStartHook",
  ]);
  assert.ok(world.counted.includes("container PostStartHookError"));
});

test("preStop runs before the stop, which gets the rest of the grace period", async (t) => {
  const world = await build(t, { preStop: { sleep: { seconds: 4 } } });
  const id = await world.start();
  const killing = world.kill(world.pod, world.killStep(id, 10));
  await until("it sleeps", () => world.clock.pending === 2);
  assert.deepEqual(world.stops(), []);
  world.clock.step(4000);
  await killing;
  assert.deepEqual(world.stops(), [6n]);
  assert.deepEqual(world.events.slice(2), ["web app Normal Killing: Stopping container app"]);
  assert.equal(world.clock.pending, 0);
});

test("a stop that leaves the preStop hook out has the whole grace for itself", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  await world.kill(world.pod, { ...world.killStep(id, 10), withoutPreStop: true });
  assert.deepEqual(world.order(), ["StartContainer", "StopContainer"]);
  assert.deepEqual(world.stops(), [10n]);
});

for (const hours of [2, -2]) {
  test(`a clock that is set by ${hours} h changes nothing about the grace of hook and stop`, async (t) => {
    const world = await build(t, { preStop: command("drain") }, { exec: () => ({ runMs: HOUR_MS }) });
    const id = await world.start();
    const killing = world.kill(world.pod, world.killStep(id, 3));
    await until("the hook runs", () => world.calls("ExecSync").length === 1);
    world.clock.jump(hours * HOUR_MS);
    world.clock.step(2999);
    assert.deepEqual(world.stops(), []);
    world.clock.step(1);
    await killing;
    assert.deepEqual(world.stops(), [2n]);
    const quick = await build(t, { preStop: command("leave") });
    const other = await quick.start();
    const step = quick.killStep(other, 30);
    quick.clock.jump(hours * HOUR_MS);
    await quick.kill(quick.pod, step);
    assert.deepEqual(quick.stops(), [30n]);
  });
}

test("a preStop that is too long is cut at the deadline, and two seconds are left for the stop", async (t) => {
  const world = await build(t, { preStop: command("drain") }, { exec: () => ({ runMs: HOUR_MS }) });
  const id = await world.start();
  const killing = world.kill(world.pod, world.killStep(id, 3));
  await until("the hook runs", () => world.calls("ExecSync").length === 1);
  world.clock.step(2999);
  assert.deepEqual(world.stops(), []);
  world.clock.step(1);
  await killing;
  assert.deepEqual(world.stops(), [2n]);
  assert.deepEqual(world.events.slice(3), ["web app Warning FailedPreStopHook: PreStopHook failed"]);
  assert.match(world.kept.warnings().join(), /the grace period expired/);
});

test("a preStop sleep that is cut has not failed", async (t) => {
  const world = await build(t, { preStop: { sleep: { seconds: 60 } } });
  const id = await world.start();
  const killing = world.kill(world.pod, world.killStep(id, 3));
  await until("it sleeps", () => world.clock.pending === 2);
  world.clock.step(3000);
  await killing;
  assert.ok(!world.events.some((line) => line.includes("FailedPreStopHook")));
});

test("a failed preStop hook is reported, and the container is stopped all the same", async (t) => {
  const world = await build(t, { preStop: command("fail") }, { exec: () => ({ exitCode: 1 }) });
  const id = await world.start();
  await world.kill(world.pod, world.killStep(id, 5));
  assert.deepEqual(world.stops(), [5n]);
  assert.equal(world.events.at(-1), "web app Warning FailedPreStopHook: PreStopHook failed");
});

test("a shorter second request joins the hook under way instead of running it again", async (t) => {
  const world = await build(t, { preStop: command("drain") }, { exec: () => ({ runMs: HOUR_MS }) });
  const id = await world.start();
  const first = new AbortController();
  const given = assert.rejects(world.kill(world.pod, world.killStep(id, 600), first.signal), /shorter/);
  await until("the hook runs", () => world.calls("ExecSync").length === 1);
  first.abort(new Error("a shorter grace"));
  await given;
  const second = world.kill(world.pod, world.killStep(id, 5));
  await settle();
  world.clock.step(5000);
  await second;
  assert.deepEqual(world.order(), ["StartContainer", "ExecSync", "StopContainer"]);
  assert.deepEqual(world.stops(), [2n]);
  assert.equal(world.events.filter((line) => line.includes("Killing")).length, 1);
});

test("a longer second request does not give the hook more time", async (t) => {
  const world = await build(t, { preStop: command("drain") }, { exec: () => ({ runMs: HOUR_MS }) });
  const id = await world.start();
  const both = [world.kill(world.pod, world.killStep(id, 3))];
  await until("the hook runs", () => world.calls("ExecSync").length === 1);
  both.push(world.kill(world.pod, world.killStep(id, 600)));
  await settle();
  world.clock.step(3000);
  await Promise.all(both);
  assert.equal(world.calls("ExecSync").length, 1);
});

test("a hook that has returned is not run again by a repeated stop, nor by the next kubelet", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  world.fake.failpoint("StopContainer", "2*error(UNKNOWN: the shim is stuck)");
  const kill = (by = world.doer) => world.kill(world.pod, world.killStep(id, 5), never, by);
  await assert.rejects(kill(), /stuck/);
  await assert.rejects(kill(), /stuck/);
  await kill(world.doerOf());
  assert.equal(world.calls("ExecSync").length, 1);
  assert.ok(world.memory.has(id));
});

test("a hook is not run again either for a pod of which nothing is kept", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  world.fake.failpoint("StopContainer", "1*error(UNKNOWN: the shim is stuck)");
  const doer = world.doerOf(noMemory);
  await assert.rejects(world.kill(undefined, world.killStep(id, 5), never, doer), /stuck/);
  await world.kill(undefined, world.killStep(id, 5), never, doer);
  assert.equal(world.calls("ExecSync").length, 1);
});

test("a hook that ran ahead is not run again by the stop, which is reported once and gets its whole grace period", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  const ahead = {
    kind: "run-pre-stop",
    containerId: containerIdOf(id),
    name: "app",
    deadline: steadyTime(5000),
    reason: "the pod goes",
  } as const;
  assert.deepEqual(await world.doer.execute(world.pod, ahead, never), []);
  assert.deepEqual(world.stops(), []);
  await world.kill(world.pod, world.killStep(id, 5));
  assert.deepEqual(world.order(), ["StartContainer", "ExecSync", "StopContainer"]);
  assert.deepEqual(world.events.slice(2), ["web app Normal Killing: Stopping container app"]);
  assert.deepEqual(await world.doer.execute(undefined, { ...ahead, containerId: containerIdOf("gone") }, never), []);
});

test("a hook ahead that takes all of the grace has its container stopped with it, out of turn", async (t) => {
  const world = await build(t, { preStop: command("drain") }, { exec: () => ({ runMs: HOUR_MS }) });
  const id = await world.start();
  const ahead = {
    kind: "run-pre-stop",
    containerId: containerIdOf(id),
    name: "app",
    deadline: steadyTime(5000),
    reason: "the pod goes",
  } as const;
  const running = world.doer.execute(world.pod, ahead, never);
  await until("the hook runs", () => world.calls("ExecSync").length === 1);
  world.clock.step(4999);
  assert.deepEqual(world.stops(), []);
  world.clock.step(1);
  assert.deepEqual(await running, [{ kind: "container", id }]);
  assert.deepEqual(world.stops(), [2n]);
});

test("a kubelet that stops cuts the hook and leaves it to the next one", async (t) => {
  const world = await build(t, { preStop: { sleep: { seconds: 60 } } });
  const id = await world.start();
  const pass = new AbortController();
  const given = assert.rejects(world.kill(world.pod, world.killStep(id, 90), pass.signal), /stopping/);
  await until("it sleeps", () => world.clock.pending === 2);
  pass.abort(new Error("the kubelet is stopping"));
  await Promise.all([given, world.doer.stop()]);
  assert.equal(world.clock.pending, 0);
  assert.equal(world.memory.has(id), false);
  assert.deepEqual(world.stops(), []);
  assert.ok(!world.events.some((line) => line.includes("FailedPreStopHook")));
});

test("a pod without definition: the container's own annotation has the hook", async (t) => {
  const world = await build(t, { preStop: command("bye", "<now>") });
  const id = await world.start();
  await world.kill(undefined, world.killStep(id, 5));
  assert.deepEqual(world.calls("ExecSync")[0], { containerId: id, cmd: ["bye", "<now>"], timeout: 0n });
  assert.equal(world.events.at(-1), "web app Normal Killing: Stopping container app");
});

test("a container taken out of the definition has the hook it was made with", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  const without = podOf(app({ name: "other" }));
  await world.kill(without, world.killStep(id, 5));
  assert.equal(world.calls("ExecSync").length, 1);
});

test("annotations that somebody has spoilt do not keep a container from stopping", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  const { annotations } = world.fake.state.container(id).status;
  annotations["io.kubernetes.container.preStopHandler"] = "{nonsense";
  annotations["io.kubernetes.container.ports"] = "7";
  await world.kill(undefined, world.killStep(id, 5));
  assert.deepEqual(world.order(), ["StartContainer", "StopContainer"]);
});

test("no hook for a container that does not run, nor without grace period; a removed one is left alone", async (t) => {
  const world = await build(t, { preStop: command("bye") });
  const id = await world.start();
  await world.kill(world.pod, world.killStep(id, 0));
  assert.deepEqual(world.stops(), [0n]);
  world.fake.exit(id, 0);
  await world.kill(world.pod, world.killStep(id, 5));
  assert.equal(world.calls("ExecSync").length, 0);
  await world.kill(undefined, world.killStep("gone", 5));
  assert.equal(world.stops().length, 2);
});

test("an HTTP preStop goes to the sandbox's address", async (t) => {
  const world = await build(t, { preStop: { httpGet: { port: 1 } } });
  const id = await world.start();
  const [sandbox] = world.fake.state.sandboxes.values();
  const ip = sandbox?.status.network?.ip ?? "";
  assert.notEqual(ip, "");
  sandbox!.status.network!.ip = "127.0.0.1";
  await world.kill(world.pod, world.killStep(id, 5));
  assert.match(
    world.kept.warnings().join(),
    /Get "http:\/\/127\.0\.0\.1:1": dial tcp 127\.0\.0\.1:1: connect: connection refused/,
  );
});

test("the Killing event has the planner's words about the container, else the standard ones", () => {
  const cases: [string, string][] = [
    ["the pod was removed from its source", "Stopping container app"],
    ["Container app definition changed, will be restarted", "Container app definition changed, will be restarted"],
    ["Init container app failed liveness probe", "Init container app failed liveness probe"],
    ["Container application is no longer in the pod's definition", "Stopping container app"],
  ];
  for (const [reason, expected] of cases) assert.equal(killMessage({ name: "app", reason }), expected);
});

test("the stop signal is sent to the runtime under its gate alone", async (t) => {
  const { Signal } = await import("../../../../../src/shared/kubernetes/cri/gen/runtime.v1.js");
  for (const on of [true, false]) {
    const world = await build(t, { stopSignal: "SIGUSR1" });
    world.runtime.settings = { ...world.runtime.settings, containerStopSignals: on };
    await world.start();
    const { config } = world.calls("CreateContainer")[0] as { config: { stopSignal: number } };
    assert.equal(config.stopSignal, on ? Signal.SIGUSR1 : Signal.RUNTIME_DEFAULT);
  }
});
