// PodSandboxes of pods whose volumes are still being set up: how many may exist, and who may pass.
// @promise Volumes: Pods whose volumes hang fill the runtime with no PodSandboxes: twelve have one before their
//   volumes are set up; a pod whose volumes are set up never waits for them.
// @with test/faults/hung-volumes-cluster.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Doer } from "../../../../src/main/containers/runtime/doer.js";
import { SandboxesAhead } from "../../../../src/main/containers/runtime/sandboxes-ahead.js";
import type { VolumePlace } from "../../../../src/main/volumes/place.js";
import { messageOf } from "../../../../src/shared/base/errors/thrown.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { until } from "../../../support/sources-kit.js";
import { app, never, podOf, runtimeOn } from "./runtime-kit.js";

const SANDBOXES_AHEAD = 12;

/** Volumes that are set up, or fail, when the test says so. */
function volumes(): { promise: Promise<void>; ready: () => void; fail: (error: Error) => void } {
  let ready = (): void => undefined;
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((resolve, reject) => {
    ready = resolve;
    fail = reject;
  });
  promise.catch(() => undefined);
  return { promise, ready, fail };
}

/** Pods that asked, in order, and those that may create their PodSandbox. */
function gate(limit: number) {
  const ahead = new SandboxesAhead(limit);
  const admitted: string[] = [];
  const failed: string[] = [];
  const ask = (uid: string, signal = never) => {
    const own = volumes();
    const place = ahead.enter(podUid(uid), own.promise, signal);
    if (place === undefined) admitted.push(uid);
    else
      void place.then(
        () => admitted.push(uid),
        (error: unknown) => failed.push(`${uid}: ${messageOf(error)}`),
      );
    return own;
  };
  return { admitted, failed, ask };
}

test("a pod enters without a wait while there are places", () => {
  const { ask, admitted } = gate(SANDBOXES_AHEAD);
  for (let index = 0; index < SANDBOXES_AHEAD; index++) ask(`pod-${index}`);
  assert.equal(admitted.length, SANDBOXES_AHEAD);
});

test("with hanging volumes in all places, pods enter when their own volumes are set up", async () => {
  const { ask, admitted } = gate(2);
  for (const uid of ["hung-0", "hung-1", "hung-2"]) ask(uid);
  const normal = ask("normal");
  await setImmediate();
  assert.deepEqual(admitted, ["hung-0", "hung-1"]);
  normal.ready();
  await setImmediate();
  assert.deepEqual(admitted, ["hung-0", "hung-1", "normal"]);
});

test("a place is free again when the volumes of its pod are set up or have failed: the first to wait gets it", async () => {
  const { ask, admitted } = gate(2);
  const [first, second] = ["a", "b", "c", "d", "e"].map((uid) => ask(uid));
  first?.ready();
  await setImmediate();
  assert.deepEqual(admitted, ["a", "b", "c"]);
  second?.fail(new Error("no answer"));
  await setImmediate();
  assert.deepEqual(admitted, ["a", "b", "c", "d"]);
});

test("a pod that waits fails with its volumes, or ends with its pass, and leaves no place behind", async () => {
  const { ask, admitted, failed } = gate(1);
  const first = ask("a");
  const ended = new AbortController();
  ask("b", ended.signal);
  const third = ask("c");
  ask("d");
  ended.abort(new Error("the pod was deleted"));
  third.fail(new Error("no answer"));
  await setImmediate();
  assert.deepEqual(failed.sort(), ["b: the pod was deleted", "c: no answer"]);
  first.ready();
  await setImmediate();
  assert.deepEqual(admitted, ["a", "d"]);
});

test("a pod has one place, and its latest attempt keeps it", async () => {
  const { ask, admitted } = gate(1);
  const earlier = ask("a");
  const later = ask("a");
  ask("b");
  earlier.fail(new Error("no answer"));
  await setImmediate();
  assert.deepEqual(admitted, ["a", "a"]);
  later.ready();
  await setImmediate();
  assert.deepEqual(admitted, ["a", "a", "b"]);
});

test("the runtime gets no PodSandbox of a pod that waits, and at once that of a pod whose volumes are set up", async (t) => {
  const world = await runtimeOn(t);
  const release = new Map<string, (places: Map<string, VolumePlace>) => void>();
  world.runtime.volumes.setUpPod = ({ metadata }) => new Promise((resolve) => release.set(metadata.uid, resolve));
  const create = (name: string): Promise<unknown> => {
    const pod = podOf(app());
    pod.metadata = { ...pod.metadata, name, uid: podUid(name) };
    const doer = new Doer(world.runtime, podUid(name), () => undefined);
    return doer.execute(pod, { kind: "create-sandbox", attempt: 0, reason: "" }, never);
  };
  const names = (): string[] =>
    [...world.fake.state.sandboxes.values()].map(({ config }) => config.metadata?.name ?? "");
  await create("hung");
  const stopped = create("also-hung");
  const normal = create("normal");
  await until("the volumes of all pods", () => release.size === 3);
  release.get("normal")?.(new Map());
  await normal;
  assert.deepEqual(names(), ["hung", "normal"]);
  release.get("hung")?.(new Map());
  await stopped;
  assert.deepEqual(names(), ["hung", "normal", "also-hung"]);
});
