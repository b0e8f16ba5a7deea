// One pod's state machine under virtual time. Steps are applied to a model of the runtime, and scripted to fail or
// hang.

import assert from "node:assert/strict";
import { test } from "node:test";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import type { Step } from "../../../../src/main/model/step.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { StepRunner } from "../../../../src/main/pods/sync/step-runner.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import { abortReason } from "../../../../src/shared/base/errors/thrown.js";
import type { Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { CriUnavailableError, criError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { podUid, containerIdOf, sandboxIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { emptyObservation, hang, HINTS, settle, SyncWorld } from "../../../support/sync-kit.js";

function build(spec: Partial<PodSpec> = {}): { world: SyncWorld; worker: PodWorker; web: Pod } {
  const world = new SyncWorld();
  const web = pod(spec);
  const { uid } = web.metadata;
  return { world, web, worker: new PodWorker(uid, web, world.workerDeps(uid)) };
}

async function started(spec: Partial<PodSpec> = {}) {
  const built = build(spec);
  built.worker.requestPass();
  await settle();
  return built;
}

const unavailable = (): CriUnavailableError =>
  new CriUnavailableError({ code: "UNAVAILABLE", verb: "RunPodSandbox", details: "gone", endpoint: "unix:///x" });
const isStart = (step: Step): boolean => step.kind === "start-container";

test("from nothing to running: sandbox, then containers, each seen before the next pass", async () => {
  const { world, worker, web } = await started({ containers: [container("a"), container("b")] });
  assert.deepEqual(world.begunOf(web.metadata.uid), ["create-sandbox", "start-container a", "start-container b"]);
  assert.deepEqual(world.model(web).running(), ["a", "b"]);
  assert.equal(worker.state, "syncing");
  assert.equal(world.clock.pending, 1, "only the resync timer is left");
});

test("a pod that nothing wakes is looked at every minute", async () => {
  const { world } = await started();
  const before = world.synced.length;
  world.clock.step(59_000);
  await settle();
  assert.equal(world.synced.length, before);
  world.clock.step(1000);
  await settle();
  assert.equal(world.synced.length, before + 1);
});

test("passes never overlap, and requests during a pass add one more", async () => {
  const { world, worker } = build();
  let under = 0;
  let most = 0;
  let open: () => void = () => undefined;
  world.script = (step) => {
    if (step.kind !== "create-sandbox") return undefined;
    return (async () => {
      most = Math.max(most, ++under);
      await new Promise<void>((resolve) => (open = resolve));
      under--;
      world.apply(worker.uid, worker.desired, step);
      return HINTS;
    })();
  };
  worker.requestPass();
  await settle();
  for (let i = 0; i < 20; i++) worker.requestPass();
  await settle();
  assert.deepEqual(world.begun, ["uid-web create-sandbox"]);
  open();
  await settle();
  assert.equal(most, 1);
  assert.deepEqual(world.begunOf("uid-web"), ["create-sandbox", "start-container app"]);
});

test("a crashed container restarts at once, then after 10 s, then after 20 s, and the status shows each back-off", async () => {
  const { world, worker, web } = await started();
  const starts = (): number => world.steps.filter(isStart).length;
  const crash = async (): Promise<void> => {
    world.exit(web, "app", 1);
    worker.requestPass();
    await settle();
  };
  await crash();
  assert.equal(starts(), 2, "the first restart comes at once");
  for (const [seconds, count] of [
    [10, 3],
    [20, 4],
  ] as const) {
    await crash();
    assert.equal(world.synced.at(-1)?.plan.waiting.get("app")?.reason, "CrashLoopBackOff");
    world.clock.step(seconds * 1000 - 100);
    await settle();
    assert.equal(starts(), count - 1, `still waiting within ${seconds} s`);
    world.clock.step(200);
    await settle();
    assert.equal(starts(), count, `started after ${seconds} s`);
    const restart = world.synced.findLast(({ plan }) => plan.steps.some(({ kind }) => kind === "start-container"));
    assert.equal(restart?.plan.waiting.get("app")?.reason, "CrashLoopBackOff", "shown until the container has started");
    assert.equal(world.synced.at(-1)?.plan.waiting.size, 0);
  }
});

test("terminate during a long step aborts it, stops running containers and cleans up", async () => {
  const { world, worker, web } = build({ containers: [container("a"), container("b")] });
  world.script = (step, signal) =>
    step.kind === "start-container" && step.container.name === "b" ? hang(signal) : undefined;
  worker.requestPass();
  await settle();
  assert.deepEqual(world.model(web).running(), ["a"]);
  worker.terminate({ deadline: steadyTime(world.clock.now() + 30_000), reason: "removed" });
  assert.equal(worker.state, "terminating");
  await settle();
  assert.equal(worker.state, "terminated");
  assert.deepEqual(world.terminating, [{ uid: "uid-web", deadline: 30_000, reason: "removed" }]);
  assert.deepEqual(world.terminated, ["uid-web"]);
  const after = world.begunOf("uid-web").slice(3);
  assert.deepEqual(after, ["kill-container a", "stop-sandbox", "clean-up", "remove-sandbox"]);
  assert.equal(world.model(web).observed.sandboxes.length, 0);
  assert.equal(world.clock.pending, 0, "a worker that is over leaves no timer");
  assert.equal(world.kept.errors().length, 0, "an aborted step is no failure");
});

test("terminate in the moment a pass begins is not forgotten", async () => {
  const { world, worker } = build();
  worker.requestPass();
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
  assert.deepEqual(world.begunOf("uid-web"), ["clean-up"], "nothing is started for a pod that must go");
});

test("stop in the moment a pass begins does nothing to the pod", async () => {
  const { world, worker } = build();
  worker.requestPass();
  await worker.stop();
  await settle();
  assert.deepEqual(world.begun, []);
  assert.equal(world.clock.pending, 0);
});

test("the deadline only shrinks; a shorter one repeats the stop under way with the grace that is left", async () => {
  const { world, worker } = await started();
  const graces: number[] = [];
  world.script = (step, signal) => {
    if (step.kind !== "kill-container") return undefined;
    graces.push(step.graceSeconds);
    return graces.length === 1 ? hang(signal) : undefined;
  };
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  worker.terminate({ deadline: steadyTime(60_000), reason: "later" });
  worker.terminate({ deadline: steadyTime(30_000), reason: "same" });
  await settle();
  assert.deepEqual(graces, [30]);
  world.clock.step(5000);
  worker.terminate({ deadline: steadyTime(15_000), reason: "sooner" });
  await settle();
  assert.deepEqual(graces, [30, 10]);
  assert.deepEqual(
    world.terminating.map(({ reason }) => reason),
    ["removed", "sooner"],
  );
  assert.equal(worker.state, "terminated");
});

test("an expired grace period still gives two seconds", async () => {
  const { world, worker } = await started();
  worker.terminate({ deadline: steadyTime(-5000), reason: "late" });
  await settle();
  const kill = world.steps.find((step) => step.kind === "kill-container");
  assert.equal(kill?.kind === "kill-container" && kill.graceSeconds, 2);
});

test("terminating a terminated pod does nothing", async () => {
  const { world, worker } = await started();
  worker.terminate({ deadline: steadyTime(1000), reason: "first" });
  await settle();
  worker.terminate({ deadline: steadyTime(1), reason: "second" });
  worker.requestPass();
  await settle();
  assert.equal(world.terminating.length, 1);
  assert.equal(world.terminated.length, 1);
});

test("a container that does not start waits for its own retry time and the others go on", async () => {
  const { world, worker, web } = build({ containers: [container("bad"), container("good")] });
  world.script = (step) =>
    step.kind === "start-container" && step.container.name === "bad"
      ? Promise.reject(new StartContainerError("ErrImagePull", "no such image", steadyTime(25_000)))
      : undefined;
  worker.requestPass();
  await settle();
  assert.deepEqual(world.model(web).running(), ["good"]);
  const last = world.synced.at(-1);
  assert.deepEqual(last?.plan.waiting.get("bad"), { reason: "ErrImagePull", message: "no such image" });
  assert.equal(last.failures.get("bad")?.retryAt, 25_000);
  world.clock.step(2000);
  worker.requestPass();
  await settle();
  assert.equal(
    world.synced.at(-1)?.plan.waiting.get("bad")?.reason,
    "ImagePullBackOff",
    "the error first, then the wait",
  );
  assert.equal(world.steps.filter(isStart).length, 2);
  world.script = () => undefined;
  world.clock.step(22_999);
  await settle();
  assert.equal(world.steps.filter(isStart).length, 2, "not before its time");
  world.clock.step(1);
  await settle();
  assert.deepEqual(world.model(web).running(), ["bad", "good"]);
  assert.equal(world.synced.at(-1)?.failures.size, 0, "a start that worked forgets the failure");
});

test("start failures without a time of their own are retried after 1, 2, 4, 8, 10, 10 s", async () => {
  const { world, worker } = build();
  world.script = (step) =>
    isStart(step) ? Promise.reject(new StartContainerError("CreateContainerError", "no")) : undefined;
  worker.requestPass();
  await settle();
  const starts = (): number => world.steps.filter(isStart).length;
  let expected = 1;
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    assert.equal(starts(), expected);
    world.clock.step(seconds * 1000 - 1);
    await settle();
    assert.equal(starts(), expected, `quiet for ${seconds} s`);
    world.clock.step(1);
    await settle();
    expected++;
  }
  assert.equal(starts(), expected);
  assert.equal(world.kept.errors().length, expected, "each failure is reported");
});

test("a new definition does not wait for the failure of the old one", async () => {
  const { world, worker } = build();
  const old = worker.desired;
  world.script = (step) =>
    step.kind === "start-container" && step.container === old?.spec.containers[0]
      ? Promise.reject(new StartContainerError("ErrImagePull", "no such image", steadyTime(300_000)))
      : undefined;
  worker.requestPass();
  await settle();
  const fixed = pod({ containers: [container("app", { image: "registry.test/fixed:1" })] });
  worker.setPod(fixed);
  await settle();
  assert.deepEqual(world.model(fixed).running(), ["app"]);
});

test("an unchanged definition keeps the wait", async () => {
  const { world, worker } = build();
  world.script = (step) =>
    isStart(step)
      ? Promise.reject(new StartContainerError("ErrImagePull", "no such image", steadyTime(300_000)))
      : undefined;
  worker.requestPass();
  await settle();
  worker.setPod(structuredClone(worker.desired ?? pod()));
  await settle();
  assert.equal(world.steps.filter(isStart).length, 1);
});

test("after a start with an unknown outcome the pod is listed before any other step", async () => {
  const { world, worker } = build();
  let calls = 0;
  world.script = (step) => {
    if (step.kind !== "start-container" || ++calls > 1) return undefined;
    // The call failed for us, but took effect.
    world.apply(worker.uid, worker.desired, step);
    return Promise.reject(
      criError({ code: "DEADLINE_EXCEEDED", verb: "StartContainer", details: "slow", endpoint: "x" }),
    );
  };
  worker.requestPass();
  await settle();
  assert.deepEqual(world.asked.at(-1)?.hints, [{ kind: "relist", id: "" }]);
  world.clock.step(60_000);
  await settle();
  assert.equal(calls, 1, "the container that runs after all is not started twice");
});

test("a failed start requests a list, too: a created container may be left behind", async () => {
  const { world, worker } = build();
  world.script = (step) =>
    isStart(step) ? Promise.reject(new StartContainerError("RunContainerError", "no")) : undefined;
  worker.requestPass();
  await settle();
  assert.deepEqual(world.asked.at(-1)?.hints, [{ kind: "relist", id: "" }]);
});

test("a container whose program cannot be started waits as one that crashes: 10 s, doubling", async () => {
  const { world, worker } = build();
  let seconds = 0;
  const starts: number[] = [];
  world.script = (step) => {
    if (step.kind !== "start-container") return undefined;
    starts.push(seconds);
    world.apply(worker.uid, worker.desired, step);
    world.exit(pod(), "app", 128);
    return Promise.reject(new StartContainerError("RunContainerError", "no such program"));
  };
  worker.requestPass();
  await settle();
  for (; seconds < 200; seconds++) {
    world.clock.step(1000);
    await settle();
  }
  // The clock goes by seconds, so a start comes up to one second after its time.
  const waits = starts.slice(1).map((at, index) => Math.floor((at - (starts[index] ?? 0)) / 10) * 10);
  assert.deepEqual(waits, [0, 10, 20, 40, 80]);
});

test("failed passes are retried after 1, 2, 4, 8, 10 s, reported each time, and forgotten after a success", async () => {
  const { world, worker } = build();
  world.script = (step) =>
    step.kind === "create-sandbox" ? Promise.reject(new Error("no network plugin")) : undefined;
  worker.requestPass();
  await settle();
  const tries = (): number => world.begun.filter((line) => line.endsWith("create-sandbox")).length;
  for (const [index, seconds] of [1, 2, 4, 8, 10, 10].entries()) {
    world.clock.step(seconds * 1000 - 1);
    await settle();
    assert.equal(tries(), index + 1);
    world.clock.step(1);
    await settle();
    assert.equal(tries(), index + 2);
  }
  const errors = world.kept.errors();
  assert.equal(errors.length, 7);
  assert.match(errors[0] ?? "", /web_default\(uid-web\).* next try in 1s: no network plugin/);
  world.script = () => undefined;
  world.clock.step(10_000);
  await settle();
  assert.deepEqual(world.begun.at(-1), "uid-web start-container app");
  world.script = () => Promise.reject(new Error("broken again"));
  world.exit(pod(), "app", 1);
  worker.requestPass();
  await settle();
  assert.match(world.kept.errors().at(-1) ?? "", /next try in 1s: broken again/);
});

test("while the runtime is away a pod retries quietly, and a request on its return starts it at once", async () => {
  const { world, worker, web } = build();
  world.script = () => Promise.reject(unavailable());
  world.answer = ({ uid, generation }) => ({
    kind: "inspect-failed",
    uid,
    generation,
    code: "CriUnavailableError",
    message: "gone",
  });
  worker.requestPass();
  await settle();
  for (let i = 0; i < 60; i++) {
    world.clock.step(1000);
    await settle();
  }
  assert.equal(world.kept.errors().length, 0, "the runtime's absence is reported once for the node, not per pod");
  assert.ok(world.asked.length >= 5, "it keeps trying");
  world.script = () => undefined;
  world.answer = (request) => world.observation(request);
  worker.requestPass();
  await settle();
  assert.deepEqual(world.model(web).running(), [], "a mere look at the pod ends no back-off");
  worker.pokeNow();
  await settle();
  assert.deepEqual(world.model(web).running(), ["app"], "no time passed since the request");
});

test("a pod whose inspection keeps failing is reported, and never acted on", async () => {
  const { world, worker } = build();
  world.cache.bump(podUid("uid-web"), []);
  world.answer = ({ uid, generation }) => ({
    kind: "inspect-failed",
    uid,
    generation,
    code: "CriDeadlineExceededError",
    message: "container app hangs",
  });
  world.cache.bump(podUid("uid-web"), []);
  worker.requestPass();
  await settle();
  assert.deepEqual(world.begun, []);
  assert.match(world.kept.errors()[0] ?? "", /container app hangs/);
});

test("stops run in parallel, creations in order, and one failed stop does not hide the others", async () => {
  const { world, worker, web } = await started({ containers: [container("a"), container("b")] });
  let under = 0;
  let most = 0;
  world.script = (step, signal) => {
    if (step.kind !== "kill-container") return undefined;
    return (async () => {
      most = Math.max(most, ++under);
      await new Promise((resolve) => setImmediate(resolve));
      under--;
      if (step.name === "a" && world.begun.filter((line) => line.endsWith("kill-container a")).length === 1) {
        throw new Error("the shim does not respond");
      }
      signal.throwIfAborted();
      world.apply(worker.uid, web, step);
      return HINTS;
    })();
  };
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  assert.equal(most, 2, "both were being stopped at once");
  assert.equal(world.model(web).running().join(), "a", "b is stopped though a is not");
  assert.match(world.kept.errors()[0] ?? "", /the shim does not respond/);
  world.clock.step(1000);
  await settle();
  assert.equal(worker.state, "terminated");
});

test("a resize waits for the stops of its plan: after a crash between them the next kubelet still knows of the resize", async () => {
  const world = new SyncWorld();
  const web = pod({ containers: [container("a")] });
  const { uid } = web.metadata;
  let stopped = (): void => undefined;
  world.script = (step) =>
    step.kind === "kill-container"
      ? new Promise((resolve) => (stopped = () => resolve(HINTS)))
      : Promise.resolve(HINTS);
  const resize: Step = {
    kind: "resize-containers",
    sandboxId: sandboxIdOf("s"),
    containers: [],
    actuated: undefined,
    reason: "",
  };
  const kill: Step = {
    kind: "kill-container",
    containerId: containerIdOf("1"),
    name: "a",
    graceSeconds: 30,
    deadline: steadyTime(30_000),
    reason: "",
  };
  const work = { pod: web, observed: emptyObservation(uid, 0), signal: new AbortController().signal };
  const done = new StepRunner(uid, world.workerDeps(uid)).run([resize, kill], work);
  await settle();
  assert.deepEqual(world.begunOf(uid), ["kill-container a"]);
  stopped();
  await done;
  assert.deepEqual(world.begunOf(uid), ["kill-container a", "resize-containers"]);
});

test("a removal that the runtime refuses keeps neither the pod's volumes nor the pod", async () => {
  const { world, worker, web } = await started();
  const details = "cannot delete running task a";
  const about = { code: "FAILED_PRECONDITION", verb: "RemovePodSandbox", endpoint: "unix:///run/cri.sock" } as const;
  let refused = 0;
  world.script = (step) => {
    if (step.kind !== "remove-sandbox") return undefined;
    refused++;
    return Promise.reject(criError({ ...about, details }));
  };
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  for (const seconds of [0, 1, 2, 4]) {
    assert.equal(worker.state, "terminating", `after ${refused} refusals`);
    world.clock.step(seconds * 1000);
    await settle();
    assert.deepEqual(world.left, [worker.uid], "its volumes are gone, and its object may go");
  }
  assert.equal(worker.state, "terminated");
  assert.equal(refused, 3);
  assert.equal(world.model(web).observed.sandboxes.length, 1, "it stays in the runtime");
  assert.match(world.kept.warnings().join(), /cannot delete running task a.*tries again every minute/);
});

test("a removal that an absent runtime does not take is no refusal", async () => {
  const { world, worker } = await started();
  const about = { code: "UNAVAILABLE", verb: "RemovePodSandbox", endpoint: "unix:///run/cri.sock" } as const;
  let refused = 0;
  world.script = (step) => {
    if (step.kind !== "remove-sandbox" || refused === 5) return undefined;
    refused++;
    return Promise.reject(criError({ ...about, details: "connect ENOENT" }));
  };
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  for (let round = 0; round < 5; round++) {
    await settle();
    assert.equal(worker.state, "terminating");
    world.clock.step(10_000);
  }
  world.clock.step(10_000);
  await settle();
  assert.equal(worker.state, "terminated");
});

test("a sandbox that appears after the clean-up is stopped, and the pod is cleaned up once more", async () => {
  const { world, worker, web } = await started();
  let late = true;
  world.script = (step) => {
    if (step.kind !== "remove-sandbox" || !late) return undefined;
    late = false;
    // A call of RunPodSandbox that was given up takes effect.
    world.apply(worker.uid, web, step);
    world.model(web).apply({ kind: "create-sandbox", attempt: 1, reason: "" });
    return Promise.resolve(HINTS);
  };
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
  const steps = ["stop-sandbox", "clean-up", "remove-sandbox"];
  assert.deepEqual(world.begunOf("uid-web").slice(-6), [...steps, ...steps]);
});

test("a shorter grace period after the clean-up does not interrupt the removal of the sandbox", async () => {
  const { world, worker, web } = await started();
  let removed = (): void => undefined;
  world.script = (step, signal) =>
    step.kind === "remove-sandbox"
      ? new Promise((resolve, reject) => {
          signal.addEventListener("abort", () => reject(abortReason(signal)));
          removed = () => {
            world.apply(worker.uid, web, step);
            resolve(HINTS);
          };
        })
      : undefined;
  worker.terminate({ deadline: steadyTime(30_000), reason: "removed" });
  await settle();
  assert.deepEqual(world.left, [worker.uid]);
  worker.terminate({ deadline: steadyTime(1000), reason: "the object is gone" });
  await settle();
  removed();
  await settle();
  assert.equal(worker.state, "terminated");
  assert.equal(world.begunOf("uid-web").filter((step) => step === "remove-sandbox").length, 1);
});

test("clean-up that fails is repeated until it works; the pod is not over before", async () => {
  const { world, worker } = await started();
  let busy = 3;
  world.script = (step) =>
    step.kind === "clean-up" && busy-- > 0 ? Promise.reject(new Error("volume is busy")) : undefined;
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  for (const seconds of [0, 1, 2, 4]) {
    assert.equal(worker.state, "terminating");
    world.clock.step(seconds * 1000);
    await settle();
  }
  assert.equal(worker.state, "terminated");
  assert.equal(world.begun.filter((line) => line.endsWith("clean-up")).length, 4);
});

test("a pod that ran to its end is finished: its sandbox goes, its containers are kept, nothing starts again", async () => {
  const { world, worker, web } = await started({ restartPolicy: "Never" });
  world.exit(web, "app", 0);
  worker.requestPass();
  await settle();
  assert.equal(worker.state, "finished");
  assert.equal(world.synced.at(-1)?.ended, true);
  assert.deepEqual(world.begunOf("uid-web").slice(2), ["stop-sandbox", "release"], "volumes and cgroup go too");
  assert.equal(world.model(web).observed.containers.length, 1);
  assert.deepEqual([world.clock.pending, world.rested], [0, ["uid-web"]], "no timer is left, and no doer");
  const begun = world.begun.length;
  world.clock.step(120_000);
  await settle();
  assert.equal(world.begun.length, begun);
  worker.requestPass();
  await settle();
  assert.deepEqual(
    [world.begun.length, world.rested.length],
    [begun, 2],
    "a change that needs no step leaves it at rest",
  );
});

test("a finished pod with a new definition is synced again; terminating one cleans up", async () => {
  const { world, worker, web } = await started({ restartPolicy: "Never" });
  world.exit(web, "app", 0);
  worker.requestPass();
  await settle();
  const again = pod({ restartPolicy: "Always" });
  worker.setPod(again);
  assert.equal(worker.state, "admitting");
  await settle();
  assert.deepEqual(world.model(again).running(), ["app"]);
  assert.equal(worker.state, "syncing");
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
});

test("a finished pod is terminated too", async () => {
  const { world, worker, web } = await started({ restartPolicy: "Never" });
  world.exit(web, "app", 3);
  worker.requestPass();
  await settle();
  assert.equal(worker.state, "finished");
  worker.terminate({ deadline: steadyTime(1000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
  assert.equal(world.model(web).observed.containers.length, 0);
});

test("stop leaves the pod alone: no step, no timer, and nothing wakes it any more", async () => {
  const { world, worker, web } = await started();
  const begun = world.begun.length;
  await worker.stop();
  assert.equal(world.clock.pending, 0);
  world.exit(web, "app", 1);
  worker.requestPass();
  world.clock.step(120_000);
  await settle();
  assert.equal(world.begun.length, begun);
  assert.deepEqual(world.terminated, []);
});

test("stop waits for the step under way, which it aborts", async () => {
  const { world, worker } = build();
  let aborted = false;
  world.script = (step, signal) =>
    step.kind === "create-sandbox"
      ? hang(signal).catch(async (error: unknown) => {
          await Promise.resolve();
          aborted = true;
          throw error;
        })
      : undefined;
  worker.requestPass();
  await settle();
  await worker.stop();
  assert.equal(aborted, true);
  assert.equal(world.clock.pending, 0);
  assert.equal(world.kept.errors().length, 0);
});

test("an orphan without a definition is terminated by the runtime's state of it", async () => {
  const world = new SyncWorld();
  const web = pod();
  const model = world.model(web);
  model.apply({ kind: "create-sandbox", attempt: 0, reason: "" });
  world.cache.onRecord(world.observation({ uid: podUid("uid-web"), generation: 0 }));
  const worker = new PodWorker(podUid("uid-web"), undefined, world.workerDeps("uid-web"));
  worker.terminate({ deadline: steadyTime(1000), reason: "in no source" });
  await settle();
  assert.deepEqual(world.begunOf("uid-web"), ["stop-sandbox", "clean-up", "remove-sandbox"]);
  assert.deepEqual(world.synced, [], "a pod without definition has no status");
  assert.equal(worker.state, "terminated");
});

test("no stop is sent before the deadline is kept for another kubelet", async () => {
  const { world, worker, web } = await started();
  let kept: () => void = () => undefined;
  world.terminationKept = new Promise((resolve) => (kept = resolve));
  worker.terminate({ deadline: steadyTime(world.clock.now() + 5000), reason: "removed" });
  await settle();
  const stops = (): string[] => world.begunOf(web.metadata.uid).filter((step) => step.startsWith("kill-container"));
  assert.deepEqual(stops(), []);
  kept();
  await settle();
  assert.equal(stops().length, 1);
});
