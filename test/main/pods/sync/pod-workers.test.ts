// Which pods run together: one worker per UID, one running pod per full name.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PodWorkers } from "../../../../src/main/pods/sync/pod-workers.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid, sandboxIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import { container, pod } from "../../../support/pods.js";
import { hang, settle, SyncWorld } from "../../../support/sync-kit.js";

function build() {
  const world = new SyncWorld();
  const desired: Pod[] = [];
  const redefined: Pod[] = [];
  const gone: string[] = [];
  const workers = new PodWorkers({
    pods: world.pods,
    clock: world.clock,
    log: world.kept.log,
    workerDeps: (uid) => world.workerDeps(uid),
    intake: world.intake(
      (pod) => desired.push(pod),
      (pod) => redefined.push(pod),
    ),
    events: world.removals((uid) => gone.push(uid)),
  });
  world.onTerminated = (uid) => workers.terminated(podUid(uid));
  return { world, workers, desired, redefined, gone };
}

const one = pod({}, "web", "uid-1");
const two = pod({}, "web", "uid-2");
const three = pod({}, "web", "uid-3");

test("two UIDs of one full name never run together: the second starts when the first is removed", async () => {
  const { world, workers, desired, gone } = build();
  workers.add(one);
  await settle();
  workers.add(two);
  await settle();
  assert.equal(world.pods.has(podUid("uid-2")), true, "it waits");
  assert.deepEqual(world.begunOf("uid-2"), []);
  assert.deepEqual(desired, [one]);
  workers.remove(podUid("uid-1"), "edited");
  await settle();
  assert.deepEqual(gone, ["uid-1"]);
  assert.deepEqual(desired, [one, two]);
  assert.deepEqual(world.model(two).running(), ["app"]);
  const firstOfTwo = world.begun.findIndex((line) => line.startsWith("uid-2"));
  const lastOfOne = world.begun.findLastIndex((line) => line.startsWith("uid-1"));
  assert.ok(lastOfOne < firstOfTwo);
  assert.equal(world.clock.now(), 0, "without any waiting");
});

test("those that wait for one name get it in the order they came", async () => {
  const { world, workers } = build();
  workers.add(one);
  workers.add(two);
  workers.add(three);
  await settle();
  workers.remove(podUid("uid-1"), "edited");
  await settle();
  assert.deepEqual(world.model(two).running(), ["app"]);
  assert.deepEqual(world.begunOf("uid-3"), []);
  workers.remove(podUid("uid-2"), "edited");
  await settle();
  assert.deepEqual(world.model(three).running(), ["app"]);
});

test("pods of other names are not held up", async () => {
  const { world, workers } = build();
  const other = pod({}, "db", "uid-db");
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  workers.add(one);
  await settle();
  workers.remove(podUid("uid-1"), "edited");
  workers.add(two);
  workers.add(other);
  await settle();
  assert.deepEqual(world.model(other).running(), ["app"]);
  assert.deepEqual(world.begunOf("uid-2"), []);
});

test("a change of a terminating pod is no new definition for its worker, but readers receive it", async () => {
  const { world, workers, desired, redefined } = build();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  workers.add(one);
  await settle();
  workers.delete(one);
  await settle();
  assert.deepEqual([desired.length, redefined.length], [2, 0]);
  const labelled: Pod = { ...one, metadata: { ...one.metadata, labels: { state: "new" } } };
  workers.delete(labelled);
  assert.deepEqual([desired.length, redefined], [2, [labelled]]);
});

test("a namespace makes another full name", async () => {
  const { world, workers } = build();
  const elsewhere: Pod = { ...two, metadata: { ...two.metadata, namespace: "other" } };
  workers.add(one);
  workers.add(elsewhere);
  await settle();
  assert.deepEqual(world.model(elsewhere).running(), ["app"]);
});

test("a pod that returns while it terminates starts again after its removal, with the newest definition", async () => {
  const { world, workers, gone } = build();
  workers.add(one);
  await settle();
  let release = (): void => undefined;
  world.script = (step) =>
    step.kind === "stop-sandbox"
      ? new Promise((resolve) => {
          release = () => {
            world.apply("uid-1", one, step);
            resolve([{ kind: "sandbox", id: sandboxIdOf("s") }]);
          };
        })
      : undefined;
  workers.remove(podUid("uid-1"), "removed");
  await settle();
  workers.add(one);
  const newest = pod({ containers: [container("renamed")] }, "web", "uid-1");
  workers.add(newest);
  await settle();
  assert.equal(world.begunOf("uid-1").filter((line) => line === "create-sandbox").length, 1);
  assert.equal(world.pods.comesBack(podUid("uid-1")), true);
  release();
  await settle();
  assert.deepEqual(gone, ["uid-1"]);
  assert.equal(world.pods.get(podUid("uid-1"))?.desired, newest);
  assert.equal(
    world
      .begunOf("uid-1")
      .filter((line) => line.startsWith("start-container"))
      .at(-1),
    "start-container renamed",
  );
});

test("remove drops a pod that waits: it never starts", async () => {
  const { world, workers } = build();
  workers.add(one);
  workers.add(two);
  await settle();
  workers.remove(podUid("uid-2"), "removed");
  assert.equal(world.pods.has(podUid("uid-2")), false);
  workers.remove(podUid("uid-1"), "removed");
  await settle();
  assert.deepEqual(world.begunOf("uid-2"), []);
  assert.deepEqual([...world.pods.all()], []);
});

test("remove of a pod that came back takes the return back", async () => {
  const { world, workers } = build();
  workers.add(one);
  await settle();
  workers.remove(podUid("uid-1"), "removed");
  workers.add(one);
  workers.remove(podUid("uid-1"), "removed again");
  await settle();
  assert.equal(world.pods.has(podUid("uid-1")), false);
  assert.equal(world.begunOf("uid-1").filter((line) => line === "create-sandbox").length, 1);
});

test("the grace comes from the caller, else the definition, else 30 s, and is at least 1 s", async () => {
  const cases: [number | undefined, number | undefined, number][] = [
    [undefined, 7, 7000],
    [3, 7, 3000],
    [0, 7, 1000],
    [undefined, undefined, 30_000],
  ];
  for (const [given, spec, expected] of cases) {
    const { world, workers } = build();
    const { containers } = one.spec;
    workers.add({ ...one, spec: { containers, ...(spec !== undefined && { terminationGracePeriodSeconds: spec }) } });
    await settle();
    workers.remove(podUid("uid-1"), "removed", given);
    assert.equal(world.terminating[0]?.deadline, expected);
    await settle();
  }
});

test("an update of a running pod reaches its worker; removing an unknown pod does nothing", async () => {
  const { world, workers, desired } = build();
  workers.remove(podUid("uid-1"), "never seen");
  workers.add(one);
  await settle();
  const changed = pod({ containers: [container("app", { image: "registry.test/app:2" })] }, "web", "uid-1");
  workers.add(changed);
  await settle();
  assert.deepEqual(desired, [one, changed]);
  assert.deepEqual(world.begunOf("uid-1").slice(2, 4), ["kill-container app", "start-container app"]);
});

test("an adopted orphan is terminated, and its full name is in use until its removal", async () => {
  const { world, workers, gone } = build();
  world.model(one).apply({ kind: "create-sandbox", attempt: 0, reason: "" });
  world.cache.onRecord(world.observation({ uid: podUid("uid-1"), generation: 0 }));
  workers.adoptOrphan(podUid("uid-1"), one, { deadline: steadyTime(1000), reason: "in no source" });
  workers.adoptOrphan(podUid("uid-1"), one, { deadline: steadyTime(1), reason: "seen twice" });
  workers.add(two);
  assert.equal(world.terminating.length, 1);
  assert.deepEqual(world.begunOf("uid-2"), []);
  await settle();
  assert.deepEqual(gone, ["uid-1"]);
  assert.deepEqual(world.begunOf("uid-1"), ["stop-sandbox", "clean-up", "remove-sandbox"]);
  assert.deepEqual(world.model(two).running(), ["app"]);
});

test("an orphan without a definition that comes back has one worker at a time", async () => {
  const { world, workers, gone } = build();
  world.model(one).apply({ kind: "create-sandbox", attempt: 0, reason: "" });
  world.cache.onRecord(world.observation({ uid: podUid("uid-1"), generation: 0 }));
  workers.adoptOrphan(podUid("uid-1"), undefined, { deadline: steadyTime(1000), reason: "in no source" });
  const terminating = world.pods.get(podUid("uid-1"));
  workers.add(one);
  assert.equal(world.pods.get(podUid("uid-1")), terminating, "the one that ends the pod is not pushed aside");
  await settle();
  assert.deepEqual(gone, ["uid-1"]);
  assert.deepEqual(world.begunOf("uid-1"), [
    "stop-sandbox",
    "clean-up",
    "remove-sandbox",
    "create-sandbox",
    "start-container app",
  ]);
});

test("pokeAll wakes every worker", async () => {
  const { world, workers } = build();
  const other = pod({}, "db", "uid-db");
  workers.add(one);
  workers.add(other);
  await settle();
  const before = world.synced.length;
  workers.pokeAll();
  await settle();
  assert.equal(world.synced.length, before + 2);
});

test("stop ends the workers and leaves the pods; nothing that waits starts after it", async () => {
  const { world, workers } = build();
  workers.add(one);
  workers.add(two);
  await settle();
  await workers.stop();
  assert.equal(world.clock.pending, 0);
  assert.deepEqual(world.model(one).running(), ["app"]);
  workers.terminated(podUid("uid-1"));
  await settle();
  assert.deepEqual(world.begunOf("uid-2"), []);
});

const evicted = { reason: "Evicted", message: "low on memory" };
const kill = (world: SyncWorld) => world.steps.find((step) => step.kind === "kill-container");

test("fail ends a pod within the smallest of the API's grace and the caller's, else its own, at least a second", async () => {
  const cases: [override: number | undefined, api: number | undefined, deadline: number][] = [
    [undefined, undefined, 7000],
    [3, undefined, 3000],
    [40, undefined, 40_000],
    [40, 5, 5000],
    [3, 5, 3000],
    [0, undefined, 1000],
  ];
  for (const [graceSeconds, api, deadline] of cases) {
    const { world, workers } = build();
    const failing = pod({ terminationGracePeriodSeconds: 7 }, "web", "uid-1");
    if (api !== undefined) failing.metadata.deletionGracePeriodSeconds = api;
    workers.add(failing);
    await settle();
    await workers.fail(podUid("uid-1"), evicted, graceSeconds === undefined ? {} : { graceSeconds });
    assert.deepEqual(world.endings[0]?.end, { cause: "failed", failure: evicted, deadline });
    assert.deepEqual(world.model(failing).running(), []);
    assert.equal(world.pods.has(podUid("uid-1")), true, "it stays to be seen");
  }
});

test("a failed pod keeps its name until its source drops it", async () => {
  const { world, workers } = build();
  workers.add(one);
  await settle();
  await workers.fail(podUid("uid-1"), evicted);
  workers.add(two);
  await settle();
  assert.deepEqual(world.begunOf("uid-2"), []);
  workers.remove(podUid("uid-1"), "removed");
  await settle();
  assert.deepEqual(world.model(two).running(), ["app"]);
});

test("fail of a pod that waits for its name: it is ended when its turn comes, without having run", async () => {
  const { world, workers } = build();
  workers.add(one);
  workers.add(two);
  await settle();
  await workers.fail(podUid("uid-2"), evicted);
  workers.add(two);
  workers.remove(podUid("uid-1"), "removed");
  await settle();
  assert.deepEqual(world.begunOf("uid-2"), ["release"]);
  assert.equal(world.pods.get(podUid("uid-2"))?.state, "finished");
  await workers.fail(podUid("never heard of"), evicted);
});

test("a pod that comes back with a shorter grace while it is being ended ends sooner", async () => {
  const { world, workers } = build();
  workers.add(pod({ terminationGracePeriodSeconds: 600 }, "web", "uid-1"));
  await settle();
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  workers.remove(podUid("uid-1"), "removed");
  await settle();
  workers.add(pod({ terminationGracePeriodSeconds: 900 }, "web", "uid-1"));
  await settle();
  assert.equal(world.terminating.length, 1);
  workers.add(pod({ terminationGracePeriodSeconds: 2 }, "web", "uid-1"));
  world.script = () => undefined;
  await settle();
  assert.deepEqual(
    world.terminating.map(({ deadline }) => deadline),
    [600_000, 2000],
  );
  assert.equal(world.pods.get(podUid("uid-1"))?.state, "syncing", "and starts again");
});

test("a termination under way is shortened by the name of a static pod, and never lengthened", async () => {
  const { world, workers } = build();
  const from = (source: string, one: Pod): Pod => ({
    ...one,
    metadata: { ...one.metadata, annotations: { "kubernetes.io/config.source": source } },
  });
  workers.add(from("http", pod({ terminationGracePeriodSeconds: 600 }, "web", "uid-1")));
  workers.add(from("api", pod({}, "of-api", "uid-2")));
  await settle();
  assert.equal(workers.shortenStatic("default/web", 2), false, "it does not terminate");
  world.script = (step, signal) => (step.kind === "kill-container" ? hang(signal) : undefined);
  workers.remove(podUid("uid-1"), "removed");
  workers.remove(podUid("uid-2"), "removed");
  await settle();
  assert.equal(workers.shortenStatic("default/of-api", 2), false);
  assert.equal(workers.shortenStatic("default/no-such", 2), false);
  assert.equal(workers.shortenStatic("default/web", 0), true);
  assert.equal(workers.shortenStatic("default/web", 900), true);
  await settle();
  assert.deepEqual(
    world.terminating.filter(({ uid }) => uid === "uid-1").map(({ deadline }) => deadline),
    [600_000, 1000],
  );
});

test("pods are admitted in the order of their arrival, and a waiting pod does not delay a running one", async () => {
  const { world, workers } = build();
  const other = pod({}, "db", "uid-db");
  workers.add(other);
  await settle();
  const asked: string[] = [];
  world.admit = (waiting, signal) => {
    asked.push(waiting.metadata.uid);
    return hang(signal);
  };
  workers.add(one);
  workers.add(pod({}, "cache", "uid-cache"));
  world.exit(other, "app", 1);
  world.pods.get(podUid("uid-db"))?.requestPass();
  await settle();
  assert.deepEqual(asked, ["uid-1", "uid-cache"]);
  assert.equal(world.begunOf("uid-db").at(-1), "start-container app");
  assert.equal(kill(world), undefined);
});

test("an end of an earlier life of the kubelet is resumed: nothing starts", async () => {
  const { world } = build();
  const workers = new PodWorkers({
    pods: world.pods,
    clock: world.clock,
    log: world.kept.log,
    workerDeps: (uid) => world.workerDeps(uid),
    intake: {
      ...world.intake(),
      earlierEnd: () => ({ end: { cause: "failed", failure: evicted, deadline: steadyTime(5000) }, terminated: false }),
    },
    events: world.removals(),
  });
  workers.add(one);
  await settle();
  assert.deepEqual(world.begunOf("uid-1"), ["release"]);
  assert.equal(world.synced.at(-1)?.ended, true);
});

test("an error of one pod does not keep the pods that wait for its name from starting", async () => {
  for (const broken of ["the pod that is gone", "a pod that waits"]) {
    const world = new SyncWorld();
    const workers: PodWorkers = new PodWorkers({
      pods: world.pods,
      clock: world.clock,
      log: world.kept.log,
      workerDeps: (uid) => world.workerDeps(uid),
      intake: world.intake(({ metadata }) => {
        if (metadata.uid === "uid-2" && broken === "a pod that waits") throw new Error("a defect");
      }),
      events: world.removals(() => {
        if (broken === "the pod that is gone") throw new Error("a defect");
      }),
    });
    world.onTerminated = (uid) => workers.terminated(podUid(uid));
    workers.add(one);
    if (broken === "a pod that waits") workers.add(two);
    workers.add(three);
    await settle();
    workers.remove(podUid("uid-1"), "edited");
    await settle();
    assert.deepEqual(world.model(three).running(), ["app"], broken);
    assert.equal(world.kept.errors().length, 1, broken);
  }
});
