// The pods API: what clients read and watch.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PodsView } from "../../../../src/main/node/pods-api/pods-view.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { EventType, type WatchPodsEvent } from "../../../../src/shared/kubernetes/plugins/gen/pods.v1alpha1.js";
import { pod as podWith } from "../../../support/pods.js";
import { decode } from "../../../support/protobuf-decode.js";
import { keptLog } from "../../../support/sources-kit.js";

const base = podWith({});
const pod = (uid: string, phase?: string): Pod =>
  ({
    ...base,
    metadata: { ...base.metadata, uid, name: uid },
    ...(phase !== undefined && { status: { phase } }),
  }) as Pod;

function view(pods: readonly Pod[]): { view: PodsView; dropped: () => number; lines: () => number } {
  let dropped = 0;
  const { log, lines } = keptLog();
  const made = new PodsView({ pods: () => pods, dropped: () => dropped++, log });
  return { view: made, dropped: () => dropped, lines: () => lines.length };
}

/** "ADDED a Running" */
function text({ type, pod: bytes }: WatchPodsEvent): string {
  const { metadata, status } = decode("Pod", bytes) as { metadata?: { uid: string }; status?: { phase: string } };
  return [EventType[type], metadata?.uid, status?.phase].filter((word) => word !== undefined).join(" ");
}
const unexpectedEnd = (): never => assert.fail("the watcher was ended");
const uids = (list: readonly Uint8Array[]): unknown[] =>
  list.map((bytes) => (decode("Pod", bytes)["metadata"] as { uid: string }).uid);

test("a watcher gets the pods of the node, the end of the list, then each change in order", () => {
  const { view: pods } = view([pod("b"), pod("a", "Running")]);
  const seen: string[] = [];
  const watcher = pods.watch((event) => seen.push(text(event)) > 0, unexpectedEnd);
  assert.deepEqual(seen.splice(0), ["ADDED a Running", "ADDED b", "INITIAL_SYNC_COMPLETE"]);
  pods.changed(pod("c", "Pending"));
  pods.changed(pod("c", "Running"));
  pods.removed(podUid("c"));
  pods.removed(podUid("never seen"));
  assert.deepEqual(seen.splice(0), ["ADDED c Pending", "MODIFIED c Running", "DELETED c"]);
  pods.unwatch(watcher);
  pods.changed(pod("d"));
  assert.deepEqual(seen, []);
  assert.equal(pods.watching, 0);
});

test("a new pod is an event from its first status on, unless the watcher has it in its first list", () => {
  const { view: pods } = view([]);
  const [early, late]: [string[], string[]] = [[], []];
  pods.watch((event) => early.push(text(event)) > 0, unexpectedEnd);
  pods.changed(pod("a"));
  pods.changed(pod("b"));
  pods.watch((event) => late.push(text(event)) > 0, unexpectedEnd);
  pods.changed(pod("a"));
  pods.changed(pod("a", "Pending"));
  pods.changed(pod("a", "Running"));
  pods.changed(pod("a"));
  pods.removed(podUid("a"));
  pods.removed(podUid("b"));
  const both = ["MODIFIED a Running", "MODIFIED a", "DELETED a"];
  assert.deepEqual(early, ["INITIAL_SYNC_COMPLETE", "ADDED a Pending", ...both]);
  assert.deepEqual(late, ["ADDED a", "ADDED b", "INITIAL_SYNC_COMPLETE", "MODIFIED a Pending", ...both, "DELETED b"]);
});

test("the event of a removed pod has name, namespace and UID only", () => {
  const { view: pods } = view([{ ...pod("a", "Running"), metadata: { ...pod("a").metadata, labels: { app: "a" } } }]);
  const seen: unknown[] = [];
  pods.watch((event) => seen.push(decode("Pod", event.pod)) > 0, unexpectedEnd);
  pods.removed(podUid("a"));
  assert.deepEqual(seen.pop(), { metadata: { name: "a", namespace: "default", uid: "a" } });
});

test("pods are listed in the order of their UIDs and found by UID", () => {
  const { view: pods } = view([pod("b"), pod("a")]);
  assert.deepEqual(uids(pods.list()), ["a", "b"]);
  assert.deepEqual(uids([pods.get(podUid("b")) ?? assert.fail("no b")]), ["b"]);
  pods.removed(podUid("b"));
  assert.equal(pods.get(podUid("b")), undefined);
});

test("a watcher that leaves more than 100 events in its queue is ended and counted; other watchers receive all", () => {
  const { view: pods, dropped } = view([pod("a")]);
  const [slow, quick]: [string[], string[]] = [[], []];
  let ended = 0;
  pods.watch(
    (event) => {
      slow.push(text(event));
      return false;
    },
    () => ended++,
  );
  pods.watch((event) => quick.push(text(event)) > 0, unexpectedEnd);
  // The queue holds 100 events beyond the first list, of which the watcher has taken one.
  for (let i = 0; i < 101; i++) pods.changed(pod("a", `P${i}`));
  assert.deepEqual([ended, dropped(), pods.watching], [0, 0, 2]);
  for (let i = 101; i < 150; i++) pods.changed(pod("a", `P${i}`));
  assert.deepEqual([ended, dropped(), pods.watching], [1, 1, 1]);
  assert.deepEqual(slow, ["ADDED a"]);
  assert.equal(quick.length, 152);
});

test("a pod that cannot be encoded is left out, logged once and counted as dropped; the others stay", () => {
  const broken = { ...pod("x"), spec: { ...base.spec, priority: 0.5 } };
  const { view: pods, dropped, lines } = view([broken, pod("a")]);
  assert.deepEqual(uids(pods.list()), ["a"]);
  assert.equal(pods.get(podUid("x")), undefined);
  const seen: string[] = [];
  pods.watch((event) => seen.push(text(event)) > 0, unexpectedEnd);
  assert.deepEqual(seen, ["ADDED a", "INITIAL_SYNC_COMPLETE"]);
  assert.deepEqual([lines(), dropped()], [1, 1]);
});
