// Which ended pods are held back in the API, and what is kept of them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HeldPods } from "../../../src/main/cluster/held-pods.js";
import { ApiView } from "../../../src/main/pods/status/manager/api-view.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { terminationMark } from "../../../src/shared/kubernetes/api/termination-mark.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { pod as basePod } from "../../support/pods.js";

const DELETED = "2026-01-02T03:04:05Z";
const LARGE = "x".repeat(1_000_000);

function object(metadata: Partial<Pod["metadata"]>, version = "1"): Pod {
  const made = basePod({ containers: [{ name: "app", image: "i", command: [LARGE] }] });
  return {
    ...made,
    metadata: { ...made.metadata, resourceVersion: version, labels: { big: LARGE }, ...metadata },
    status: {
      phase: "Succeeded",
      containerStatuses: [
        { name: "app", state: {}, lastState: {}, ready: false, restartCount: 0, image: "i", imageID: "i" },
      ],
    },
  };
}

function kit() {
  const changed: string[] = [];
  const view = new ApiView((one) => held.seen(one.metadata.uid));
  const held = new HeldPods(view, (uid) => changed.push(uid));
  return { view, held, changed };
}
const UID = podUid("uid-web");

describe("held pods", () => {
  const rows: readonly (readonly [name: string, metadata: Partial<Pod["metadata"]>, held: boolean])[] = [
    ["deleted, with a finalizer", { deletionTimestamp: DELETED, finalizers: ["a/b"] }, true],
    ["deleted, without one", { deletionTimestamp: DELETED }, false],
    ["with a finalizer, not deleted", { finalizers: ["a/b"] }, false],
    [
      "a mirror pod",
      { deletionTimestamp: DELETED, finalizers: ["a/b"], annotations: { "kubernetes.io/config.mirror": "x" } },
      false,
    ],
  ];
  for (const [name, metadata, isHeld] of rows) {
    test(`a pod that has ended, ${name}, is ${isHeld ? "" : "not "}held`, () => {
      const { view, held } = kit();
      view.put(object(metadata));
      assert.equal(held.get(UID), undefined, "its containers may still run");
      held.removed(UID);
      assert.equal(held.get(UID) !== undefined, isHeld);
      assert.equal([...held.all()].length, isHeld ? 1 : 0);
    });
  }

  test("a held pod keeps identity, finalizers and status, and no text of its author", () => {
    const { view, held } = kit();
    view.put(object({ deletionTimestamp: DELETED, finalizers: Array.from({ length: 1000 }, () => LARGE) }));
    held.removed(UID);
    const shown = held.get(UID);
    assert.ok(shown !== undefined);
    assert.equal(terminationMark(shown), "ended");
    assert.deepEqual(shown.spec, { containers: [{ name: "app" }] });
    assert.equal(shown.metadata.finalizers?.length, 16);
    assert.ok(JSON.stringify(shown).length < 16_000);
  });

  test("a change of its finalizers is reported, and the end of its object ends it", () => {
    const { view, held, changed } = kit();
    view.put(object({ deletionTimestamp: DELETED, finalizers: ["a", "b"] }));
    held.removed(UID);
    view.put(object({ deletionTimestamp: DELETED, finalizers: ["b"] }, "2"));
    assert.deepEqual(held.get(UID)?.metadata.finalizers, ["b"]);
    view.put(object({ deletionTimestamp: DELETED }, "3"));
    assert.equal(held.get(UID), undefined);
    view.put(object({ deletionTimestamp: DELETED, finalizers: ["c"] }, "4"));
    view.drop(UID);
    held.dropped(UID);
    assert.equal(held.get(UID), undefined);
    assert.deepEqual(changed, [UID, UID, UID, UID, UID]);
    view.put(object({ deletionTimestamp: DELETED, finalizers: ["c"] }, "5"));
    assert.equal(held.get(UID), undefined, "another pod's worker has not ended yet");
  });

  test("a pod whose object is gone before its end is not held", () => {
    const { held, changed } = kit();
    held.removed(UID);
    assert.deepEqual([held.get(UID), changed], [undefined, []]);
  });
});
