// Config maps by watch, under virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reference } from "../../../../src/main/cluster/objects/references.js";
import { WatchedObjects } from "../../../../src/main/cluster/objects/watched-objects.js";
import { ApiConnectionError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import { CONFIG_MAPS } from "../../../../src/shared/kubernetes/api/client/kinds.js";
import type { ConfigMap } from "../../../../src/shared/kubernetes/api/objects.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { followKit, forbidden, getKit } from "../follow-kit.js";

const never = new AbortController().signal;
const refs = (...names: string[]): Map<string, Reference> => new Map(names.map((name) => [name, { inVolume: true }]));
const onlyRead = (name: string): Map<string, Reference> => new Map([[name, { inVolume: false }]]);
const map = (version: number, more: Partial<ConfigMap> = {}): ConfigMap => ({
  metadata: { name: "a", namespace: "ns", resourceVersion: String(version) },
  data: { version: String(version) },
  ...more,
});

function world(answer: (name: string) => ConfigMap | Error | undefined = () => undefined) {
  const clock = new SteppedClock();
  const kit = followKit();
  const { client, calls } = getKit(answer);
  const changed: string[] = [];
  const objects = new WatchedObjects<ConfigMap>({
    client,
    kind: CONFIG_MAPS,
    clock,
    follow: kit.follow,
    idleMs: 60_000,
    onChange: (uids) => changed.push(uids.join("+")),
  });
  return { ...kit, clock, calls, changed, objects };
}

test("one watch per object however many pods refer to it; it lingers a minute after the last", () => {
  const { objects, live, clock, all } = world();
  objects.setReferences(podUid("u1"), "ns", refs("a", "b"));
  objects.setReferences(podUid("u2"), "ns", refs("a"));
  objects.setReferences(podUid("u2"), "ns", refs("a"));
  objects.setReferences(podUid("u3"), "other", refs("a"));
  assert.deepEqual(live(), [
    "configmaps ns metadata.name=a",
    "configmaps ns metadata.name=b",
    "configmaps other metadata.name=a",
  ]);
  objects.podRemoved(podUid("u1"));
  clock.step(59_999);
  assert.equal(live().length, 3, "b lingers");
  clock.step(15_001);
  assert.deepEqual(live(), ["configmaps ns metadata.name=a", "configmaps other metadata.name=a"]);
  objects.podRemoved(podUid("u2"));
  clock.step(30_000);
  objects.setReferences(podUid("u4"), "ns", refs("a"));
  clock.step(120_000);
  assert.equal(all.length, 3, "a pod that came meanwhile found the watch of those before");
  objects.podRemoved(podUid("u3"));
  objects.podRemoved(podUid("u4"));
  clock.step(75_000);
  assert.deepEqual([live(), clock.pending], [[], 0]);
});

test("a read returns the watch's last object, without a call", async () => {
  const { objects, replace, event, calls } = world();
  objects.setReferences(podUid("u1"), "ns", refs("a"));
  const early = objects.get("ns", "a", never);
  replace("=a", map(1));
  assert.equal((await early).data?.["version"], "1");
  event("=a", "MODIFIED", map(2));
  assert.equal((await objects.get("ns", "a", never)).data?.["version"], "2");
  event("=a", "DELETED", map(2));
  await assert.rejects(objects.get("ns", "a", never), /^ApiError: configmap "a" not found$/);
  assert.deepEqual(calls, []);
});

test("a change is reported to the pods that refer to it; the first state only to pods that missed it", async () => {
  const { objects, replace, event, changed, clock } = world(() => new ApiConnectionError("away"));
  objects.setReferences(podUid("u1"), "ns", refs("a"));
  objects.setReferences(podUid("u2"), "ns", refs("a"));
  replace("=a", map(1));
  replace("=a", map(1));
  assert.deepEqual(changed, []);
  event("=a", "MODIFIED", map(2));
  replace("=a");
  assert.deepEqual(changed, ["u1+u2", "u1+u2"]);
  objects.setReferences(podUid("u3"), "ns", refs("late"));
  const read = objects.get("ns", "late", never);
  clock.step(250);
  await assert.rejects(read, /away/);
  replace("=late", map(7));
  assert.deepEqual(changed.slice(2), ["u3"]);
});

test("a watch that has not spoken yet is not waited for long; a refusal is tried against for ten seconds", async () => {
  let answer: ConfigMap | Error = forbidden();
  const { objects, clock, calls, replace } = world(() => answer);
  objects.setReferences(podUid("u1"), "ns", refs("a"));
  const read = objects.get("ns", "a", never);
  clock.step(250);
  await until("the first refusal", () => calls.length === 1 && clock.pending === 2);
  answer = map(3);
  clock.step(50);
  assert.equal((await read).data?.["version"], "3");
  answer = forbidden();
  let failure: unknown;
  objects.get("ns", "a", never).catch((error: unknown) => (failure = error));
  for (let tick = 0; failure === undefined && tick < 400; tick++) {
    clock.step(50);
    await new Promise(setImmediate);
  }
  assert.match(String(failure), /no relationship found/);
  assert.ok(calls.length > 8 && calls.length < 25, `${calls.length} calls in ten seconds`);
  const last = objects.get("ns", "a", never);
  replace("=a", map(4));
  assert.equal((await last).data?.["version"], "4");
});

test("an object read beside the watch is reported as old when the watch has a newer one", async () => {
  for (const [version, expected] of [
    [3, []],
    [4, ["u1"]],
  ] as const) {
    const { objects, clock, replace, changed } = world(() => map(3));
    objects.setReferences(podUid("u1"), "ns", refs("a"));
    const read = objects.get("ns", "a", never);
    clock.step(250);
    assert.equal((await read).data?.["version"], "3");
    replace("=a", map(version));
    assert.deepEqual(changed, expected);
  }
});

test("an immutable object is not watched, and is dropped with its last pod", async () => {
  const { objects, live, replace, all } = world();
  objects.setReferences(podUid("u1"), "ns", refs("a"));
  replace("=a", map(1, { immutable: true }));
  assert.deepEqual(live(), []);
  objects.setReferences(podUid("u2"), "ns", refs("a"));
  assert.equal((await objects.get("ns", "a", never)).data?.["version"], "1");
  assert.equal(all.length, 1);
  objects.podRemoved(podUid("u1"));
  objects.podRemoved(podUid("u2"));
  objects.setReferences(podUid("u3"), "ns", refs("a"));
  assert.equal(all.length, 2, "it may have been created again");
});

test("an object that only containers read is not watched for ever; the next read fetches it again", async () => {
  const { objects, live, replace, clock, all } = world();
  objects.setReferences(podUid("u1"), "ns", onlyRead("a"));
  replace("=a", map(1));
  clock.step(75_000);
  assert.deepEqual(live(), []);
  const read = objects.get("ns", "a", never);
  replace("=a", map(2));
  assert.equal((await read).data?.["version"], "2");
  assert.equal(all.length, 2);
});

test("objects no pod refers to are read directly, and waiting ends with the signal", async () => {
  const { objects, calls, all } = world(() => map(5));
  assert.equal((await objects.get("ns", "driver", never)).data?.["version"], "5");
  assert.deepEqual([calls, all], [["ns/driver"], []]);
  objects.setReferences(podUid("u1"), "ns", refs("a"));
  const abort = new AbortController();
  const read = objects.get("ns", "a", abort.signal);
  abort.abort(new Error("pod removed"));
  await assert.rejects(read, /pod removed/);
});

test("stopping ends every watch", () => {
  const { objects, live, clock } = world();
  objects.setReferences(podUid("u1"), "ns", refs("a", "b"));
  objects.stop();
  objects.setReferences(podUid("u2"), "ns", refs("c"));
  assert.deepEqual([live(), clock.pending], [[], 0]);
});

/** Each read waits until the next entry of `waiting` is called. */
function hangingReads() {
  const waiting: (() => void)[] = [];
  const kit = followKit();
  const objects = new WatchedObjects<ConfigMap>({
    client: {
      get: async (_kind, { name }) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return map(1, { data: { name } }) as never;
      },
    },
    kind: CONFIG_MAPS,
    clock: new SteppedClock(),
    follow: kit.follow,
    idleMs: 60_000,
    onChange: () => undefined,
  });
  return { kit, waiting, objects };
}

test("a pod that refers to thousands of objects has 64 watches; the other objects are read, sixteen at a time", async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `m${index}`);
  const { kit, waiting, objects } = hangingReads();
  objects.setReferences(podUid("u1"), "ns", refs(...names));
  assert.equal(kit.live().length, 64);
  const reads = names.slice(64, 164).map((name) => objects.get("ns", name, never));
  for (let ended = 0; ended < reads.length; ended++) {
    await until("a read", () => waiting.length > 0);
    assert.ok(waiting.length <= 16, `${waiting.length} reads at once`);
    waiting.shift()?.();
  }
  assert.deepEqual(
    (await Promise.all(reads)).map(({ data }) => data?.["name"]),
    names.slice(64, 164),
  );
  assert.equal(kit.live().length, 64, "a read begins no watch");
  objects.setReferences(podUid("u2"), "ns", refs("m999"));
  assert.equal(kit.live().length, 65, "another pod has its own");
  objects.stop();
});

test("objects that no pod is noted to refer to are read in turn, too", async () => {
  const { kit, waiting, objects } = hangingReads();
  const reads = Array.from({ length: 100 }, (_, at) => objects.get("ns", `m${at}`, never));
  for (let ended = 0; ended < reads.length; ended++) {
    await until("a read", () => waiting.length > 0);
    assert.ok(waiting.length <= 16, `${waiting.length} reads at once`);
    waiting.shift()?.();
  }
  assert.equal((await Promise.all(reads)).length, 100);
  assert.equal(kit.live().length, 0);
  objects.stop();
});

test("the watches of many pods that are gone end in several turns", () => {
  const { objects, live, clock } = world();
  const pods = Array.from({ length: 200 }, (_, index) => podUid(`u${index}`));
  for (const uid of pods) objects.setReferences(uid, "ns", refs(`of-${uid}`));
  for (const uid of pods) objects.podRemoved(uid);
  clock.step(60_000);
  assert.equal(live().length, 200 - 64);
  clock.step(50);
  assert.equal(live().length, 200 - 128);
  clock.step(1000);
  assert.deepEqual(live(), []);
});

test("a read that waits for its turn behind reads that hang ends with the first state of its watch", async () => {
  let began = 0;
  const kit = followKit();
  const clock = new SteppedClock();
  const objects = new WatchedObjects<ConfigMap>({
    client: {
      get: (_kind, _at, options) =>
        new Promise((_resolve, reject) => {
          began++;
          options?.signal?.addEventListener("abort", () => reject(new Error("given up")));
        }),
    },
    ...{ kind: CONFIG_MAPS, clock, follow: kit.follow, idleMs: 60_000, onChange: () => undefined },
  });
  const hanging = Array.from({ length: 16 }, (_, index) => `h${index}`);
  objects.setReferences(podUid("u1"), "ns", refs(...hanging, "a"));
  const abort = new AbortController();
  const hung = hanging.map((name) => objects.get("ns", name, abort.signal));
  const late = objects.get("ns", "a", never);
  await until("the patience with the watches", () => clock.pending === 18);
  clock.step(250);
  await until("the reads", () => began === 16);
  kit.replace("=a", map(7));
  assert.equal((await late).data?.["version"], "7");
  abort.abort(new Error("the test is over"));
  await Promise.allSettled(hung);
  objects.stop();
});
