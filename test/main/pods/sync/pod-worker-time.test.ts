// Deadlines and failures of a pod: its active deadline, a runtime that does not stop it, and reports of failures.
// @promise Pods: A new sandbox whose status cannot be read has the event FailedPodSandBoxStatus; a start that fails
//   has KubeletSetupFailed.
// @with test/integration/cpu-manager.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { PodCgroupError, PodDirectoriesError } from "../../../../src/main/model/environment-errors.js";
import type { Step } from "../../../../src/main/model/step.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { steadyTime, type SteadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { RuntimeState } from "../../../../src/shared/contracts/pleg.js";
import type { Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { criError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { hang, HINTS, settle, SyncWorld } from "../../../support/sync-kit.js";

async function started(spec: Partial<PodSpec> = {}, prepare: (world: SyncWorld) => void = () => undefined) {
  const world = new SyncWorld();
  prepare(world);
  const web: Pod = pod(spec);
  const worker = new PodWorker(podUid("uid-web"), web, world.workerDeps("uid-web"));
  worker.requestPass();
  await settle();
  return { world, worker, web };
}

const DEADLINE_EVENT = "Normal DeadlineExceeded: Pod was active on the node longer than the specified deadline";
const graces = (steps: readonly Step[]): number[] =>
  steps.flatMap((step) => (step.kind === "kill-container" ? [step.graceSeconds] : []));

test("at its active deadline a pod is terminated with its grace period, reported once", async () => {
  const { world, worker, web } = await started({ activeDeadlineSeconds: 90, terminationGracePeriodSeconds: 7 });
  world.clock.step(89_999);
  await settle();
  assert.equal(worker.state, "syncing");
  world.clock.step(1);
  await settle();
  assert.equal(worker.state, "finished");
  assert.deepEqual(world.recorded, [DEADLINE_EVENT]);
  assert.deepEqual(graces(world.steps), [7]);
  assert.equal(world.synced.at(-1)?.end?.failure?.reason, "DeadlineExceeded");
  assert.deepEqual(world.model(web).running(), []);
});

test("the deadline counts from the pod's start time and interrupts a long step", async () => {
  const { world, worker } = await started({ activeDeadlineSeconds: 100 }, (world) => {
    world.startTime = new Date(-40_000).toISOString();
    world.script = (step, signal) => (step.kind === "start-container" ? hang(signal) : undefined);
  });
  world.clock.step(59_999);
  await settle();
  assert.equal(worker.state, "syncing");
  world.clock.step(1);
  await settle();
  assert.equal(worker.state, "finished");
  assert.deepEqual(world.begunOf("uid-web").slice(2), ["stop-sandbox", "release"]);
});

test("a pod that is past its deadline when the kubelet comes back starts nothing", async () => {
  const { world, worker } = await started({ activeDeadlineSeconds: 100 }, (world) => {
    world.startTime = new Date(-200_000).toISOString();
  });
  assert.equal(worker.state, "finished");
  assert.deepEqual(world.begunOf("uid-web"), ["release"]);
});

test("a pod that completed in time is not late afterwards; one that goes leaves no alarm", async () => {
  const { world, worker, web } = await started({ activeDeadlineSeconds: 100, restartPolicy: "Never" });
  world.exit(web, "app", 0);
  worker.requestPass();
  await settle();
  world.clock.step(200_000);
  await settle();
  assert.equal(world.synced.at(-1)?.end?.cause, "completed");
  assert.deepEqual(world.recorded, []);
  worker.terminate({ deadline: steadyTime(1), reason: "removed" });
  await settle();
  assert.equal(world.clock.pending, 0);
});

test("a pod that can neither run nor end fails at its active deadline", async () => {
  const { world, worker, web } = await started({ activeDeadlineSeconds: 90, restartPolicy: "Never" });
  world.isFinal = false;
  world.exit(web, "app", 0);
  worker.requestPass();
  await settle();
  world.clock.step(89_999);
  await settle();
  assert.equal(worker.state, "syncing");
  world.clock.step(1);
  await settle();
  assert.equal(worker.state, "finished");
  assert.deepEqual(world.recorded, [DEADLINE_EVENT]);
  assert.equal(world.synced.at(-1)?.end?.failure?.reason, "DeadlineExceeded");
});

test("a changed deadline counts from then on, and one that is weeks away does not ring early", async () => {
  const { world, worker } = await started({ activeDeadlineSeconds: 40 * 86_400 });
  const day = 86_400_000;
  for (let days = 1; days <= 39; days++) {
    world.clock.step(day);
    await settle();
  }
  assert.equal(worker.state, "syncing");
  worker.setPod(pod({ activeDeadlineSeconds: 39 * 86_400 + 60 }));
  await settle();
  world.clock.step(60_000);
  await settle();
  assert.equal(worker.state, "finished");
});

test("a stop that neither completes nor fails is repeated 10 s after the grace period, with 2 s and growing deadlines", async () => {
  const { world, worker } = await started();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  const event = "Warning ExceededGracePeriod: Container runtime did not kill the pod within specified grace period.";
  const wait = async (ms: number): Promise<void> => {
    world.clock.step(ms);
    await settle();
  };
  await wait(39_999);
  assert.deepEqual(world.recorded, []);
  await wait(1);
  assert.deepEqual(world.recorded, [event]);
  assert.deepEqual(graces(world.steps), [30, 2]);
  await wait(21_999);
  assert.deepEqual(graces(world.steps), [30, 2]);
  await wait(1);
  assert.deepEqual(graces(world.steps), [30, 2, 2]);
  for (let minutes = 0; minutes < 122; minutes++) await wait(60_000);
  const { length } = graces(world.steps);
  assert.ok(length > 30 && length < 66, `asked ${length} times: it goes on, every two minutes at most`);
  world.script = () => undefined;
  await wait(122_000);
  assert.equal(worker.state, "terminated");
  assert.equal(world.clock.pending, 0);
});

test("sidecars get the rest of the grace period that the app containers left", async () => {
  const sidecar = container("proxy", { restartPolicy: "Always" });
  const { world, worker } = await started({ initContainers: [sidecar] });
  world.script = (step, signal) => {
    if (step.kind !== "kill-container" || step.name !== "app") return undefined;
    return world.clock.sleep(12_000, signal).then(() => {
      world.apply("uid-web", pod(), step);
      return [];
    });
  };
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  world.clock.step(12_000);
  await settle();
  assert.deepEqual(graces(world.steps), [30, 18]);
  const deadlines = world.steps.flatMap((step) => (step.kind === "kill-container" ? [step.deadline] : []));
  assert.deepEqual(deadlines, [30_000, 30_000]);
});

test("the sidecars of a completed pod share one grace period; at its end they stop together", async () => {
  const sidecars = ["s0", "s1", "s2", "s3"].map((name) => container(name, { restartPolicy: "Always" }));
  const { world, worker, web } = await started({ initContainers: sidecars, restartPolicy: "Never" });
  const from = world.steps.length;
  world.script = (step, signal) => {
    if (step.kind !== "kill-container") return undefined;
    return world.clock.sleep(step.name === "s3" ? 12_000 : 20_000, signal).then(() => {
      world.apply("uid-web", web, step);
      return HINTS;
    });
  };
  const stops = (): unknown[] =>
    world.steps
      .slice(from)
      .flatMap((step) => (step.kind === "kill-container" ? [[step.name, step.graceSeconds, step.deadline]] : []));
  world.exit(web, "app", 0);
  worker.requestPass();
  await settle();
  world.clock.step(12_000);
  await settle();
  const inTurn = [
    ["s3", 30, 30_000],
    ["s2", 18, 30_000],
  ];
  assert.deepEqual(stops(), inTurn);
  world.clock.step(20_000);
  await settle();
  const late = ["s1", "s0"].map((name) => [name, 2, 30_000]);
  assert.deepEqual(stops(), [...inTurn, ...late]);
});

test("the next kubelet gives the sidecars of a completed pod the rest of their grace period; none is stopped before it is recorded", async () => {
  const sidecar = container("proxy", { restartPolicy: "Always" });
  const { world, worker, web } = await started({ initContainers: [sidecar], restartPolicy: "Never" });
  await worker.stop();
  const kept: { deadline?: SteadyTime | undefined } = {};
  let written: () => void = () => undefined;
  const keptEnd = {
    endDeadline: () => kept.deadline,
    keepEndDeadline: (_uid: string, deadline: SteadyTime | undefined) => {
      kept.deadline = deadline;
      return new Promise<void>((resolve) => (written = resolve));
    },
  };
  const next = (): PodWorker => new PodWorker(podUid("uid-web"), web, { ...world.workerDeps("uid-web"), keptEnd });
  const stops = (): unknown[] =>
    world.steps.flatMap((step) => (step.kind === "kill-container" ? [[step.graceSeconds, step.deadline]] : []));
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  world.exit(web, "app", 0);
  const second = next();
  second.requestPass();
  await settle();
  assert.deepEqual(stops(), []);
  written();
  await settle();
  assert.deepEqual(stops(), [[30, 30_000]]);
  await second.stop();
  world.clock.step(10_000);
  const third = next();
  third.requestPass();
  await settle();
  assert.deepEqual(stops().slice(1), [[20, 30_000]]);
  await third.stop();
});

const noNetwork: RuntimeState = {
  reachable: true,
  runtimeReady: true,
  networkReady: false,
  name: "fake",
  version: "1",
  events: false,
  message: "NetworkReady: no CNI configuration",
};

test("without a network only pods of the host's network start; the others wait, with an event", async () => {
  const prepare = (world: SyncWorld): void => {
    world.runtimeState = noNetwork;
  };
  const host = await started({ hostNetwork: true }, prepare);
  assert.deepEqual(host.world.model(host.web).running(), ["app"]);
  const { world, worker, web } = await started({}, prepare);
  assert.deepEqual(world.begun, []);
  assert.deepEqual(world.recorded, [
    "Warning NetworkNotReady: network is not ready: NetworkReady: no CNI configuration",
  ]);
  assert.equal(world.synced.length, 1, "its status is reported nevertheless");
  world.runtimeState = { ...noNetwork, networkReady: true, message: "" };
  worker.pokeNow();
  await settle();
  assert.deepEqual(world.model(web).running(), ["app"]);
});

test("a pod that must go is ended without a network too", async () => {
  const { world, worker } = await started();
  world.runtimeState = noNetwork;
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
});

const create = (step: Step): boolean => step.kind === "create-sandbox";
const kill = (step: Step): boolean => step.kind === "kill-container";
const away = criError({ code: "UNAVAILABLE", verb: "StopContainer", details: "gone", endpoint: "x" });
const failures: [what: string, (step: Step) => boolean, Error, string[]][] = [
  [
    "no cgroup",
    create,
    new PodCgroupError(new Error("EROFS")),
    ["Warning FailedCreatePodContainer: unable to ensure pod container exists: EROFS"],
  ],
  [
    "no directories",
    create,
    new PodDirectoriesError(new Error("ENOSPC")),
    ["Warning Failed: error making pod data directories: ENOSPC"],
  ],
  ["no sandbox: the doer has told", create, new Error("no network plugin"), []],
  ["a stop that fails", kill, new Error("shim is gone"), ["Warning FailedKillPod: error killing pod: shim is gone"]],
  ["a stop while the runtime is away", kill, away, []],
];
for (const [what, fails, error, events] of failures) {
  test(`events of failed steps: ${what}`, async () => {
    const { world, worker } = await started({}, (world) => {
      world.script = (step) => (fails(step) ? Promise.reject(error) : undefined);
    });
    if (fails === kill) worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
    await settle();
    assert.deepEqual(world.recorded, events);
    world.script = () => undefined;
  });
}

test("a pod that can't be looked at has a FailedSync event, but not because the runtime is away", async () => {
  for (const [code, events] of [
    ["CriDeadlineExceededError", ["Warning FailedSync: error determining status: app hangs"]],
    ["CriUnavailableError", []],
  ] as const) {
    const { world } = await started({}, (world) => {
      world.answer = ({ uid, generation }) => ({
        kind: "inspect-failed",
        uid,
        generation,
        code,
        message: "app hangs",
      });
      world.cache.bump(podUid("uid-web"), []);
    });
    assert.deepEqual(world.recorded, events);
  }
});

test("a new sandbox that can't be looked at has a FailedPodSandBoxStatus event, a pod seen since has FailedSync", async () => {
  let hangs = false;
  const { world, worker } = await started({}, (world) => {
    world.answer = (request) => {
      const { uid, generation } = request;
      if (!hangs) return world.observation(request);
      return { kind: "inspect-failed", uid, generation, code: "CriDeadlineExceededError", message: "pause hangs" };
    };
    world.script = (step) => {
      hangs = step.kind === "create-sandbox";
      return undefined;
    };
  });
  const unseen = "Warning FailedPodSandBoxStatus: Unable to get pod sandbox status: pause hangs";
  assert.deepEqual(world.recorded, [unseen]);
  hangs = false;
  world.clock.step(2000);
  world.cache.bump(podUid("uid-web"), []);
  worker.requestPass();
  await settle();
  hangs = true;
  world.cache.bump(podUid("uid-web"), []);
  worker.requestPass();
  await settle();
  assert.deepEqual(world.recorded, [unseen, "Warning FailedSync: error determining status: pause hangs"]);
});

test("each step is a log line with pod, container, reason, and the states before and after", async () => {
  const { world, worker, web } = await started();
  world.exit(web, "app", 3);
  worker.requestPass();
  await settle();
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  await settle();
  const lines = world.kept.lines
    .filter((line) => line["step"] !== undefined)
    .map(({ pod: name, step, container: of, reason, from, to }) => [name, step, of, reason, from, to]);
  const name = "web_default(uid-web)";
  assert.deepEqual(lines, [
    [name, "create-sandbox", undefined, "the pod has no sandbox", "none", "ready"],
    [name, "start-container", "app", "it has not run yet", "none", "running"],
    [name, "start-container", "app", "it exited with code 3 (Error)", "exited", "running"],
    [name, "kill-container", "app", "removed", "running", "exited"],
    [name, "stop-sandbox", undefined, "removed", "ready", "not ready"],
    [name, "clean-up", undefined, undefined, undefined, undefined],
    [name, "remove-sandbox", undefined, undefined, "not ready", "none"],
  ]);
  const states = world.kept.lines.filter((line) => line["step"] === undefined && line["from"] !== undefined);
  assert.deepEqual(
    states.map(({ from, to }) => [from, to]),
    [
      ["admitting", "syncing"],
      ["syncing", "terminating"],
      ["terminating", "terminated"],
    ],
  );
});

test("a failed pass that can't be recorded is repeated all the same", async () => {
  const world = new SyncWorld();
  const deps = world.workerDeps("uid-web");
  const pass = (): never => {
    throw new Error("a defect");
  };
  world.runtimeState = noNetwork;
  const worker = new PodWorker(podUid("uid-web"), pod(), { ...deps, recorder: { ...deps.recorder, pod: pass } });
  worker.requestPass();
  await settle();
  assert.match(world.kept.errors().at(-1) ?? "", /cannot record a failed sync: a defect/);
  world.runtimeState = { ...noNetwork, networkReady: true, message: "" };
  world.clock.step(1000);
  await settle();
  assert.deepEqual(world.begun.at(-1), "uid-web start-container app");
});

test("a pod without changes is synced once per syncFrequency", async () => {
  const { world, web } = await started();
  const worker = new PodWorker(podUid("uid-web"), web, { ...world.workerDeps("uid-web"), syncFrequencyMs: 5000 });
  worker.requestPass();
  await settle();
  const before = world.passes.length;
  world.clock.step(4999);
  await settle();
  assert.equal(world.passes.length, before);
  world.clock.step(1);
  await settle();
  assert.equal(world.passes.length, before + 1);
  await worker.stop();
});
