// Dispatching of the syncLoop: no pod starts before the runtime was read, no pod is removed before every source
// delivered.
// @promise Failures: An error in one pod's change, status, volumes, logs or probes reaches no other pod; what runs of
//   a pod that could not be taken on keeps running.
// @with test/main/pods/sync/pod-workers.test.ts, test/main/pods/sync/pod-worker-time.test.ts,
//   test/main/pods/status/pod-statuses.test.ts, test/main/pods/status/manager/status-manager.test.ts,
//   test/main/volumes/refresher.test.ts, test/main/containers/logs/log-rotation.test.ts,
//   test/main/pods/collection/container-collector.test.ts, test/main/pods/sources/api-source.test.ts,
//   test/shared/node/probes/prober.test.ts

import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { PodRecords } from "../../../../src/main/pods/sync/pod-records.js";
import { PodWorkers } from "../../../../src/main/pods/sync/pod-workers.js";
import { SyncLoop } from "../../../../src/main/pods/sync/sync-loop.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { RuntimeState } from "../../../../src/shared/contracts/pleg.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid, sandboxIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { temporaryFolder } from "../../../support/sources-kit.js";
import { hang, settle, SyncWorld } from "../../../support/sync-kit.js";

async function build(context: TestContext, leftovers: () => Promise<string[]> = () => Promise.resolve([])) {
  const world = new SyncWorld();
  // Before the folder is removed: hooks run in the order of their registration.
  context.after(() => records.flush());
  const records = new PodRecords(join(await temporaryFolder(context), "pods"), world.clock, world.kept.log);
  await records.load();
  const workers: PodWorkers = new PodWorkers({
    pods: world.pods,
    clock: world.clock,
    log: world.kept.log,
    workerDeps: (uid) => {
      const deps = world.workerDeps(uid);
      const onTerminating = (id: string, deadline: number, reason: string): Promise<void> => {
        // Virtual time does not wait for the disk.
        void records.terminating(podUid(id), { deadline: steadyTime(deadline), reason });
        return deps.reports.onTerminating(podUid(id), steadyTime(deadline), reason);
      };
      return { ...deps, reports: { ...deps.reports, onTerminating } };
    },
    intake: world.intake((desired) => records.accept(desired, new Date(world.clock.now()))),
    events: world.removals((uid) => {
      world.cache.forget(podUid(uid));
      records.forget(podUid(uid));
    }),
  });
  world.onTerminated = (uid) => workers.terminated(podUid(uid));
  let stamps = 0;
  let firsts = 0;
  let statics = 0;
  const swept: string[][] = [];
  /** Pods whose source delivers them later. */
  const awaited = new Set<string>();
  const onFirst = (): void => {
    firsts++;
    assert.deepEqual([...world.pods.all()], [], "no pod has been taken on yet");
  };
  const { cache, clock } = world;
  const { log } = world.kept;
  const loop = new SyncLoop({
    cache,
    pods: world.pods,
    workers,
    records,
    clock,
    log,
    onFirst,
    leftovers: async () => (await leftovers()).map(podUid),
    onStatics: () => (statics += 1),
    onSwept: () => swept.push([...world.pods.all()].map(({ uid }) => uid).sort()),
    onOrphan: () => undefined,
    share: { spend: (work) => work() },
    isAwaited: (uid) => awaited.has(uid),
    stamp: () => (stamps += 1),
    setOp: () => undefined,
  });
  world.onRecord = (record) => loop.onPlegRecord(record);
  const relisted = (...uids: string[]): void =>
    loop.onPlegRecord({ kind: "relisted", uids: uids.map(podUid), durationMs: 1 });
  const seen = (uid: string): void => loop.onPlegRecord(world.observation({ uid: podUid(uid), generation: 0 }));
  return {
    awaited,
    world,
    workers,
    records,
    loop,
    relisted,
    seen,
    stamps: () => stamps,
    swept,
    firsts: () => firsts,
    statics: () => statics,
  };
}

/** Puts a running pod into the runtime, as an earlier kubelet left it. */
function runs(world: SyncWorld, running: Pod): void {
  const model = world.model(running);
  model.apply({ kind: "create-sandbox", attempt: 0, reason: "" });
  for (const container of running.spec.containers) {
    model.apply({
      kind: "start-container",
      container,
      containerKind: "app",
      sandboxId: sandboxIdOf("sandbox-1"),
      sandboxAttempt: 0,
      podIPs: [],
      restartCount: 0,
      reason: "",
    });
  }
}

const add = (added: Pod) => ({ kind: "add", pod: added }) as const;

test("nothing starts before the runtime has been seen whole; then changes apply in order", async (t) => {
  const { world, loop, relisted, seen, firsts } = await build(t);
  const a = pod({}, "a");
  const b = pod({}, "b");
  runs(world, b);
  loop.onPodChange(add(a));
  loop.onPodChange(add(b));
  loop.onPodChange({ kind: "remove", pod: a });
  loop.onSourcesSeen();
  await settle();
  relisted("uid-b");
  await settle();
  assert.deepEqual(world.begun, []);
  assert.equal(world.pods.has(podUid("uid-b")), false);
  assert.equal(firsts(), 0);
  seen("uid-b");
  assert.equal(firsts(), 1);
  await settle();
  assert.deepEqual(world.begunOf("uid-b"), [], "a running pod is adopted, not restarted");
  assert.equal(world.pods.has(podUid("uid-b")), true);
  assert.equal(world.pods.get(podUid("uid-a"))?.state, undefined, "added, removed and over");
  assert.deepEqual(world.begunOf("uid-a"), ["clean-up"]);
});

test("one early change that fails keeps no other pod from its start", async (t) => {
  const { world, loop, relisted, workers } = await build(t);
  const [bad, good] = [pod({}, "bad"), pod({}, "good")];
  const take = workers.add.bind(workers);
  t.mock.method(workers, "add", (added: Pod) => {
    if (added === bad) throw new Error("no place for it");
    take(added);
  });
  loop.onPodChange(add(bad));
  loop.onPodChange(add(good));
  relisted();
  await settle();
  assert.deepEqual(world.model(good).running(), ["app"]);
  assert.match(world.kept.errors().join(), /cannot add pod default\/bad/);
});

test("a running pod that no source wants terminates, but not before every source has delivered", async (t) => {
  const { world, loop, relisted, seen } = await build(t);
  const orphan = pod({ terminationGracePeriodSeconds: 7 }, "orphan");
  runs(world, orphan);
  relisted("uid-orphan");
  seen("uid-orphan");
  relisted("uid-orphan");
  await settle();
  assert.equal(world.pods.has(podUid("uid-orphan")), false, "a source may still want it");
  loop.onSourcesSeen();
  await settle();
  assert.deepEqual(world.model(orphan).observed.containers, []);
  assert.deepEqual(world.terminated, ["uid-orphan"]);
});

test("a running pod that its source delivers later is no orphan", async (t) => {
  const { world, loop, relisted, seen, awaited } = await build(t);
  const late = pod({}, "late");
  runs(world, late);
  awaited.add("uid-late");
  relisted("uid-late");
  seen("uid-late");
  loop.onSourcesSeen();
  await settle();
  assert.equal(world.pods.has(podUid("uid-late")), false);
  assert.deepEqual(world.terminated, []);
  awaited.clear();
  loop.onPodChange(add(late));
  await settle();
  assert.deepEqual(world.begunOf("uid-late"), [], "it is adopted, not restarted");
});

test("all wanted pods are known once, when every source has spoken", async (t) => {
  const { loop, relisted, swept } = await build(t);
  loop.onPodChange(add(pod({}, "a")));
  relisted();
  await settle();
  assert.deepEqual(swept, []);
  loop.onPodChange(add(pod({}, "b")));
  loop.onSourcesSeen();
  relisted();
  await settle();
  assert.deepEqual(swept, [["uid-a", "uid-b"]]);
});

test("an orphan's grace is the one on its containers, 30 s when there is none", async (t) => {
  const { world, loop, relisted, seen } = await build(t);
  const updated = pod({}, "told");
  const silent = pod({}, "silent");
  runs(world, updated);
  runs(world, silent);
  const [container] = world.model(updated).observed.containers;
  assert.ok(container);
  container.annotations["io.kubernetes.pod.terminationGracePeriod"] = "7";
  relisted("uid-told", "uid-silent");
  seen("uid-told");
  seen("uid-silent");
  loop.onSourcesSeen();
  const deadlines = Object.fromEntries(world.terminating.map(({ uid, deadline }) => [uid, deadline]));
  assert.deepEqual(deadlines, { "uid-told": 7000, "uid-silent": 30_000 });
  await settle();
});

test("a pod that is wanted is never swept, however early the runtime shows it", async (t) => {
  const { world, loop, relisted, seen } = await build(t);
  const web = pod();
  runs(world, web);
  loop.onPodChange(add(web));
  loop.onSourcesSeen();
  // The event stream may tell of a pod before the first relist does.
  seen("uid-web");
  relisted("uid-web");
  await settle();
  assert.deepEqual(world.terminating, []);
  assert.deepEqual(world.model(web).running(), ["app"]);
  assert.equal(world.pods.get(podUid("uid-web"))?.state, "syncing");
});

test("an orphan that appears later is found by the next relist", async (t) => {
  const { world, loop, relisted, seen } = await build(t);
  relisted();
  loop.onSourcesSeen();
  const late = pod({}, "late");
  runs(world, late);
  seen("uid-late");
  assert.deepEqual(world.terminating, []);
  relisted("uid-late");
  await settle();
  assert.deepEqual(world.terminated, ["uid-late"]);
});

test("directories and cgroups of unknown pods are cleaned up once", async (t) => {
  let asked = 0;
  const { world, loop, relisted } = await build(t, () => {
    asked++;
    return Promise.resolve(["uid-web", "uid-left"]);
  });
  loop.onPodChange(add(pod()));
  relisted();
  loop.onSourcesSeen();
  relisted();
  await settle();
  assert.deepEqual(world.begunOf("uid-left"), ["clean-up"]);
  assert.deepEqual(world.model(pod()).running(), ["app"]);
  relisted();
  await settle();
  assert.equal(asked, 1);
});

test("containers of a removed pod that appear later are terminated, but not those of a terminating pod or one that returned", async (t) => {
  let list: string[] = [];
  let listed: () => void = () => undefined;
  const { world, workers, loop, relisted, swept } = await build(t, async () => {
    await new Promise<void>((resolve) => {
      listed = resolve;
    });
    return list;
  });
  assert.deepEqual(swept, []);
  await loop.sweepLeftovers();
  relisted();
  loop.onSourcesSeen();
  assert.equal(swept.length, 1);
  listed();
  const going = pod({}, "going");
  loop.onPodChange(add(going));
  await settle();
  list = ["uid-lost", "uid-going", "uid-back"];
  const sweeping = loop.sweepLeftovers();
  workers.remove(podUid("uid-going"), "test");
  await settle();
  assert.equal(world.pods.has(podUid("uid-going")), false, "removed during the list");
  loop.onPodChange(add(pod({}, "back")));
  listed();
  await sweeping;
  await settle();
  assert.deepEqual(
    world.terminating.map(({ uid }) => uid),
    ["uid-going", "uid-lost"],
  );
  assert.deepEqual(world.begunOf("uid-lost"), ["clean-up"]);
});

test("a failed listing of leftovers is reported and costs nothing else", async (t) => {
  const { world, loop, relisted } = await build(t, () => Promise.reject(new Error("EIO")));
  relisted();
  loop.onSourcesSeen();
  await settle();
  assert.equal(world.kept.warnings().length, 1);
});

test("a termination that an earlier kubelet began is completed, then the pod starts again", async (t) => {
  const { world, loop, relisted, seen, records } = await build(t);
  const web = pod();
  records.accept(web, new Date(0));
  await records.terminating(podUid("uid-web"), { deadline: steadyTime(12_345), reason: "removed by the agent before" });
  runs(world, web);
  loop.onPodChange(add(web));
  loop.onSourcesSeen();
  relisted("uid-web");
  seen("uid-web");
  assert.deepEqual(world.terminating, [{ uid: "uid-web", deadline: 12_345, reason: "removed by the agent before" }]);
  await settle();
  assert.deepEqual(world.begunOf("uid-web").slice(0, 2), ["kill-container app", "stop-sandbox"]);
  assert.deepEqual(world.begunOf("uid-web").slice(-2), ["create-sandbox", "start-container app"]);
  assert.equal(
    records.get(podUid("uid-web"))?.termination,
    undefined,
    "the new life starts without the old one's deadline",
  );
});

test("a termination under way whose pod is in no source keeps its deadline", async (t) => {
  const { world, loop, relisted, seen, records } = await build(t);
  const web = pod();
  records.accept(web, new Date(0));
  await records.terminating(podUid("uid-web"), { deadline: steadyTime(4000), reason: "removed" });
  runs(world, web);
  relisted("uid-web");
  seen("uid-web");
  loop.onSourcesSeen();
  assert.deepEqual(
    world.terminating.map(({ deadline }) => deadline),
    [4000],
  );
  await settle();
  assert.deepEqual(world.terminated, ["uid-web"]);
  assert.equal(records.get(podUid("uid-web")), undefined);
});

test("a pod edited while the kubelet was down: the old one ends before the new one starts", async (t) => {
  for (const [recorded, sourcesFirst] of [
    [true, false],
    [false, false],
    [true, true],
  ]) {
    const { world, loop, relisted, seen, records } = await build(t);
    const before = pod({}, "web", "uid-before");
    const after = pod({}, "web", "uid-after");
    if (recorded === true) records.accept(before, new Date(0));
    runs(world, before);
    world.model(before).observed.name = "web";
    world.model(before).observed.namespace = "default";
    loop.onPodChange(add(after));
    if (sourcesFirst === true) loop.onSourcesSeen();
    relisted("uid-before");
    seen("uid-before");
    if (sourcesFirst !== true) {
      await settle();
      assert.deepEqual(world.begun, [], "another source may still want the old one");
      loop.onSourcesSeen();
    }
    await settle();
    assert.deepEqual(world.terminated, ["uid-before"], `recorded: ${String(recorded)}`);
    assert.deepEqual(world.model(after).running(), ["app"]);
    const lastOld = world.begun.findLastIndex((line) => line.startsWith("uid-before"));
    assert.ok(lastOld < world.begun.findIndex((line) => line.startsWith("uid-after")));
  }
});

test("a pod that waits for the sources may be removed again, or changed, before they have spoken", async (t) => {
  const { world, loop, relisted, seen } = await build(t);
  const before = pod({}, "web", "uid-before");
  const after = pod({}, "web", "uid-after");
  runs(world, before);
  Object.assign(world.model(before).observed, { name: "web", namespace: "default" });
  relisted("uid-before");
  seen("uid-before");
  loop.onPodChange(add(after));
  loop.onPodChange({ kind: "remove", pod: after });
  loop.onPodChange(add(before));
  loop.onSourcesSeen();
  await settle();
  assert.deepEqual(world.terminating, []);
  assert.deepEqual(world.begun, [], "the old one is wanted after all, and was never touched");
});

test("a change of a container wakes its pod's worker", async (t) => {
  const { world, loop, relisted } = await build(t);
  const web = pod();
  relisted();
  loop.onPodChange(add(web));
  await settle();
  world.exit(web, "app", 1);
  await settle();
  assert.deepEqual(world.begunOf("uid-web").at(-1), "start-container app");
  assert.deepEqual(world.model(web).running(), ["app"]);
});

test("the runtime's state is reported once per change, and its return wakes every pod", async (t) => {
  const { world, loop, relisted } = await build(t);
  relisted();
  loop.onPodChange(add(pod()));
  await settle();
  const { lines } = world.kept;
  lines.length = 0;
  const up: RuntimeState = {
    reachable: true,
    runtimeReady: true,
    networkReady: true,
    name: "fake",
    version: "1.0",
    events: false,
    message: "",
  };
  const down: RuntimeState = { ...up, reachable: false, runtimeReady: false, networkReady: false, message: "refused" };
  const noNetwork: RuntimeState = { ...up, networkReady: false, message: "NetworkReady: no CNI configuration" };
  const synced = world.synced.length;
  const publish = async (state: RuntimeState): Promise<string[]> => {
    lines.length = 0;
    loop.onPlegRecord({ kind: "runtime", state });
    await settle();
    return lines.map((line) => `${line.level} ${line.msg}`);
  };
  assert.match((await publish(down)).join("\n"), /^50 the container runtime does not respond.*refused$/);
  assert.deepEqual(await publish({ ...down, message: "refused again" }), []);
  const noisy = await publish(noNetwork);
  assert.match(noisy.join("\n"), /^30 runtime fake 1.0 is reachable\n40 .*no CNI configuration$/);
  assert.deepEqual(await publish({ ...noNetwork, events: true }), [], "the same problem is not reported again");
  assert.equal(world.synced.length, synced, "nothing is woken for a runtime that is not ready");
  assert.deepEqual(await publish(up), []);
  assert.equal(world.synced.length, synced + 1);
  assert.deepEqual(await publish({ ...up, events: true }), []);
  assert.equal(world.synced.length, synced + 1, "ready already: no thread is woken");
});

test("a loop that is stopped before the runtime has been seen starts no pod", async (t) => {
  const { loop, relisted, world, firsts } = await build(t);
  loop.onPodChange(add(pod()));
  loop.onSourcesSeen();
  loop.stop();
  relisted();
  await settle();
  assert.deepEqual([[...world.pods.all()], firsts()], [[], 0]);
});

test("a stopped loop routes nothing", async (t) => {
  const { world, loop, relisted, stamps } = await build(t);
  relisted();
  await settle();
  loop.stop();
  loop.onPodChange(add(pod()));
  loop.onSourcesSeen();
  await settle();
  assert.equal(world.pods.has(podUid("uid-web")), false);
  assert.deepEqual(world.begun, []);
  assert.ok(stamps() >= 2, "it still says that it is alive");
});

/** A pod as the API server gives it. */
function apiPod(name: string, uid = `uid-${name}`, grace?: number): Pod {
  const made = pod({}, name, uid);
  made.metadata.annotations = { "kubernetes.io/config.source": "api" };
  if (grace !== undefined) {
    made.metadata.deletionTimestamp = "1970-01-01T00:00:30Z";
    made.metadata.deletionGracePeriodSeconds = grace;
  }
  return made;
}
const update = (updated: Pod) => ({ kind: "update", pod: updated }) as const;

test("a pod that the API server deletes ends within its grace, once, however often it is shown", async (t) => {
  const { world, loop, relisted } = await build(t);
  relisted();
  loop.onSourcesSeen();
  loop.onPodChange(add(apiPod("a")));
  await settle();
  assert.deepEqual(world.model(apiPod("a")).running(), ["app"]);
  loop.onPodChange(update(apiPod("a", "uid-a", 7)));
  loop.onPodChange(update(apiPod("a", "uid-a", 7)));
  await settle();
  assert.deepEqual(world.terminating, [{ uid: "uid-a", deadline: 7000, reason: "the API server is deleting the pod" }]);
  assert.deepEqual(world.terminated, ["uid-a"]);
  loop.onPodChange(update(apiPod("a", "uid-a", 0)));
  await settle();
  assert.equal(world.pods.has(podUid("uid-a")), false, "its object is still there, nothing of it runs again");
  assert.deepEqual(world.terminated, ["uid-a"]);
  loop.onPodChange({ kind: "remove", pod: apiPod("a") });
  loop.onPodChange(add(apiPod("a")));
  await settle();
  assert.equal(world.pods.get(podUid("uid-a"))?.state, "syncing", "a storage that was put back");
});

test("a shorter grace is heard, a longer one is not; nothing is below a second", async (t) => {
  const { world, loop, relisted } = await build(t);
  relisted();
  loop.onSourcesSeen();
  loop.onPodChange(add(apiPod("a")));
  await settle();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  for (const grace of [20, 25, 5, 0]) {
    loop.onPodChange(update(apiPod("a", "uid-a", grace)));
    await settle();
  }
  assert.deepEqual(
    world.terminating.map(({ deadline }) => deadline),
    [20_000, 5000, 1000],
  );
  world.script = () => undefined;
  loop.onPodChange({ kind: "remove", pod: apiPod("a", "uid-a", 0) });
  world.clock.step(60_000);
  await settle();
  assert.deepEqual(world.terminated, ["uid-a"]);
});

test("a pod that is removed from the API at once terminates with the grace period of its definition", async (t) => {
  const { world, loop, relisted } = await build(t);
  relisted();
  loop.onSourcesSeen();
  loop.onPodChange(add(apiPod("a")));
  await settle();
  loop.onPodChange({ kind: "remove", pod: apiPod("a") });
  await settle();
  assert.deepEqual(
    world.terminating.map(({ uid, deadline }) => [uid, deadline]),
    [["uid-a", 30_000]],
  );
  assert.deepEqual(world.terminated, ["uid-a"]);
});

test("the same name with another UID waits for the end of the first", async (t) => {
  const { world, loop, relisted, workers } = await build(t);
  relisted();
  loop.onSourcesSeen();
  loop.onPodChange(add(apiPod("a")));
  await settle();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  loop.onPodChange({ kind: "remove", pod: apiPod("a") });
  loop.onPodChange(add(apiPod("a", "second")));
  await settle();
  assert.equal(world.pods.get(podUid("second")), undefined);
  loop.onPodChange(update(apiPod("a", "second", 30)));
  await settle();
  assert.deepEqual(world.terminated, ["second"], "what waits and is deleted does not wait on");
  assert.deepEqual(world.begunOf("second"), ["clean-up"]);
  await workers.stop();
});

test("a deletion begun by an earlier kubelet keeps its deadline; one that it completed is terminated", async (t) => {
  const { world, loop, records, relisted, seen } = await build(t);
  const web = apiPod("web");
  runs(world, web);
  records.accept(web, new Date(0));
  void records.terminating(podUid("uid-web"), { deadline: steadyTime(3000), reason: "before" });
  loop.onPodChange(add(apiPod("web", "uid-web", 30)));
  loop.onPodChange(add(apiPod("over", "uid-over", 30)));
  relisted("uid-web");
  seen("uid-web");
  loop.onSourcesSeen();
  await settle();
  assert.deepEqual(
    world.terminating.map(({ uid, deadline }) => [uid, deadline]),
    [
      ["uid-web", 3000],
      ["uid-over", 30_000],
    ],
  );
  assert.deepEqual(world.terminated.sort(), ["uid-over", "uid-web"]);
});

test("with the API server away a static pod's successor does not wait, and pods of the API live on", async (t) => {
  const { world, loop, records, relisted, seen, statics } = await build(t);
  const [old, next] = [pod({}, "web", "old"), pod({}, "web", "next")];
  const api = apiPod("db");
  for (const one of [old, api]) {
    runs(world, one);
    records.accept(one, new Date(0));
  }
  loop.onPodChange(add(next));
  loop.onStaticSourcesSeen();
  relisted("old", "uid-db");
  seen("old");
  seen("uid-db");
  await settle();
  assert.equal(statics(), 1);
  assert.deepEqual(world.terminated, ["old"]);
  assert.equal(world.pods.get(podUid("next"))?.state, "syncing");
  assert.equal(world.pods.has(podUid("uid-db")), false);
  assert.deepEqual(world.model(api).running(), ["app"]);
});

test("a pod that can't be taken on keeps no other pod from starting, and its containers are not removed", async (t) => {
  const { world, loop, relisted, seen, workers, swept } = await build(t);
  const names = ["early", "late", "good", "better"];
  const [early, late, good, better] = names.map((name) => pod({}, name)) as [Pod, Pod, Pod, Pod];
  const works = workers.add.bind(workers);
  t.mock.method(workers, "add", (added: Pod) => {
    if (added === early || added === late) throw new Error("a defect");
    works(added);
  });
  for (const running of [early, late]) runs(world, running);
  loop.onPodChange(add(early));
  loop.onPodChange(add(good));
  relisted("uid-early", "uid-late");
  for (const uid of ["uid-early", "uid-late"]) seen(uid);
  loop.onPodChange(add(late));
  loop.onPodChange(add(better));
  loop.onSourcesSeen();
  relisted("uid-early", "uid-late");
  await settle();
  assert.deepEqual(swept, [["uid-better", "uid-good"]]);
  for (const one of [early, late, good, better]) assert.deepEqual(world.model(one).running(), ["app"]);
  assert.equal(world.kept.errors().length, 2);
});

test("an orphan that can't be ended keeps no other orphan from ending, and no pod from starting", async (t) => {
  const { world, loop, relisted, seen, workers, swept } = await build(t);
  const [bad, orphan, wanted] = ["bad", "orphan", "wanted"].map((name) => pod({}, name)) as [Pod, Pod, Pod];
  const adopt = workers.adoptOrphan.bind(workers);
  t.mock.method(workers, "adoptOrphan", (...args: Parameters<PodWorkers["adoptOrphan"]>) => {
    if (args[0] === "uid-bad") throw new Error("a defect");
    adopt(...args);
  });
  for (const running of [bad, orphan]) runs(world, running);
  relisted("uid-bad", "uid-orphan");
  for (const uid of ["uid-bad", "uid-orphan"]) seen(uid);
  loop.onPodChange(add(wanted));
  loop.onSourcesSeen();
  await settle();
  assert.equal(swept.length, 1);
  assert.deepEqual(world.model(orphan).running(), []);
  assert.deepEqual(world.model(wanted).running(), ["app"]);
});
