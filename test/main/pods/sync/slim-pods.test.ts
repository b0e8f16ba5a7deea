// What main keeps of a pod of the API server that has ended, on the whole sync path: its identity and its status.

import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startPodSync } from "../../../../src/main/cluster/start-pod-sync.js";
import type { AdmissionVerdict } from "../../../../src/main/pods/admission/verdict.js";
import type { PodFeed } from "../../../../src/main/pods/sources/api-source.js";
import { PodChanges } from "../../../../src/main/pods/sources/pod-changes.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type { ApiClient } from "../../../../src/shared/kubernetes/api/client/port.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod } from "../../../support/pods.js";
import { syncNode } from "./pod-sync-kit.js";

const LARGE = "a".repeat(1_000_000);

/** A node that joined a cluster whose API server has these objects; patches of a status are applied to them. */
async function joined(
  t: TestContext,
  verdict: (pod: Pod) => AdmissionVerdict,
  objects: Pod[],
  prepare: (node: Awaited<ReturnType<typeof syncNode>>) => void = () => undefined,
) {
  const node = await syncNode(t, { verdict });
  prepare(node);
  const { state, sync, world } = node;
  const { log } = world.kept;
  let version = objects.length;
  const patch = (_kind: unknown, { name }: { name: string }, body: unknown): Promise<Pod> => {
    const object = objects.find(({ metadata }) => metadata.name === name);
    assert.ok(object !== undefined, `${name} is in the API`);
    object.metadata.resourceVersion = String(++version);
    object.status = { ...object.status, ...(body as Pod).status } as NonNullable<Pod["status"]>;
    return Promise.resolve(structuredClone(object));
  };
  const read = (_kind: unknown, { name }: { name: string }): Promise<Pod> => {
    reads.push(name);
    const object = objects.find(({ metadata }) => metadata.name === name);
    return object === undefined
      ? Promise.reject(new ApiError(404, "NotFound", "gone"))
      : Promise.resolve(structuredClone(object));
  };
  const reads: string[] = [];
  let feed: PodFeed | undefined;
  const changes = new PodChanges({ sources: ["api"], loop: sync.loop, clock: systemClock, log });
  const pods = startPodSync({
    nodeName: "node",
    client: { patch, get: read } as unknown as ApiClient,
    eventsClient: {} as ApiClient,
    reflect: (given) => {
      feed = given;
      return { start: () => undefined, stop: () => Promise.resolve() };
    },
    readUnfinished: () => ({ start: () => undefined, stop: () => Promise.resolve() }),
    node: () => undefined,
    ready: Promise.resolve(),
    state,
    sync,
    sources: { changes },
    recorder: { sendTo: () => undefined },
    registry: new ThreadRegistry("main"),
    clock: systemClock,
    log,
  });
  t.after(() => pods.stop());
  await Promise.resolve();
  const list = (): void => feed?.onReplace(objects.map((object) => feed?.trim(structuredClone(object)) ?? object));
  list();
  const records = (): Promise<string[]> => readdir(join(world.runtime.settings.rootDir, "nodelet", "pods"));
  /** Characters of what the sync path keeps of the pod. */
  const kept = (uid: string): number =>
    JSON.stringify([
      state.pods.get(podUid(uid))?.desired,
      sync.statuses.get(podUid(uid)),
      state.records.get(podUid(uid)),
    ]).length + JSON.stringify([sync.resizes.shown(podUid(uid)), changes.pods()]).length;
  return { ...node, list, records, kept, reads };
}

function large(name: string): Pod {
  const made = pod({}, name);
  made.metadata.annotations = { text: LARGE };
  made.metadata.resourceVersion = "1";
  made.spec.containers = [{ ...made.spec.containers[0], name: "app", env: [{ name: "A", value: LARGE }] }];
  made.status = { phase: "Pending" };
  return made;
}

const refused: AdmissionVerdict = { admit: false, reason: "OutOfcpu", message: "too little" };

test("a rejected pod loses its definition everywhere, and its record", async (t) => {
  const object = large("a");
  const { kept, until, phase, list, records, state } = await joined(t, () => refused, [object]);
  await until(
    "its definition to be dropped",
    () => state.pods.get(podUid("uid-a"))?.state === "finished" && kept("uid-a") < 10_000,
  );
  assert.equal(phase("uid-a"), "Failed");
  await until("its status to be in the API", () => object.status?.phase === "Failed");
  await state.records.flush();
  assert.deepEqual(await records(), [], "the API server has its phase");
  // The whole text arrives again.
  list();
  assert.ok(kept("uid-a") < 10_000);
  assert.equal(state.pods.get(podUid("uid-a"))?.state, "finished");
});

test("a pod that was Failed before the kubelet started is never taken in whole, and gets no record", async (t) => {
  const object = large("a");
  object.status = { phase: "Failed", reason: "OutOfcpu" };
  const { kept, until, phase, records, state } = await joined(t, () => refused, [object]);
  await until("its worker", () => state.pods.get(podUid("uid-a"))?.state === "finished");
  assert.ok(kept("uid-a") < 10_000);
  assert.equal(phase("uid-a"), "Failed");
  await state.records.flush();
  assert.deepEqual(await records(), []);
});

test("an admitted pod keeps its definition and its record", async (t) => {
  const { kept, until, records, state, list } = await joined(t, () => ({ admit: true }), [large("a")]);
  await until("it to be admitted", () => state.pods.get(podUid("uid-a"))?.state === "syncing");
  list();
  assert.ok(kept("uid-a") > 3_000_000);
  await state.records.flush();
  assert.deepEqual(await records(), ["uid-a.json"]);
});

test("many large pods that are new in one list are taken in a few at a time, and each is rejected", async (t) => {
  const objects = Array.from({ length: 40 }, (_, at) => large(`a${at}`));
  const { until, reads } = await joined(t, () => refused, objects);
  await until("all to be rejected", () => objects.every(({ status }) => status?.phase === "Failed"));
  // Each has two megabytes, and the budget 16 MiB.
  assert.ok(reads.length >= 30, `${reads.length} were dropped and read again`);
  assert.equal(new Set(reads).size, reads.length, "each once");
});

test("pods that ended before this kubelet look for remains a few at a time, and a new pod starts meanwhile", async (t) => {
  const objects = Array.from({ length: 60 }, (_, at) => {
    const object = large(`a${at}`);
    object.status = { phase: "Failed", reason: "Evicted" };
    return object;
  });
  let looking = 0;
  let end: () => void = () => undefined;
  const looks = new Promise<void>((resolve) => (end = resolve));
  const { until, state, phase } = await joined(
    t,
    () => ({ admit: true }),
    [...objects, large("new")],
    ({ world }) => {
      t.mock.method(world.runtime.volumes, "tearDownPod", async () => {
        looking++;
        await looks;
      });
    },
  );
  await until("the new pod to be taken on", () => state.pods.get(podUid("uid-new"))?.state === "syncing");
  await until("some to look for remains", () => looking === 8);
  for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(looking, 8);
  // A pod that is deleted meanwhile waits no longer.
  state.pods.get(podUid("uid-a50"))?.terminate({ deadline: steadyTime(0), reason: "deleted" });
  await until("the deleted pod to be gone", () => state.pods.get(podUid("uid-a50")) === undefined);
  assert.equal(looking, 8);
  end();
  await until("all to be finished", () =>
    objects.every(({ metadata: { uid } }) => uid === "uid-a50" || state.pods.get(uid)?.state === "finished"),
  );
  assert.equal(phase("uid-a0"), "Failed");
});
