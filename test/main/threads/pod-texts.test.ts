import assert from "node:assert/strict";
import { test } from "node:test";
import { PodTexts } from "../../../src/main/threads/pod-texts.js";
import { SharedTexts } from "../../../src/main/threads/shared-texts.js";
import type { Pod } from "../../../src/shared/api/pod.js";
import { pod } from "../../support/pods.js";

const withPhase = (one: Pod, phase: "Pending" | "Running"): Pod => ({ ...one, status: { phase } });
const namesOf = (texts: readonly string[]): string[] => texts.map((text) => (JSON.parse(text) as Pod).metadata.name);

test("a pod whose status alone changed is sent without its definition", () => {
  const texts = new PodTexts(new SharedTexts());
  const [known, late] = [pod({}, "known"), pod({}, "late")];
  texts.reset([withPhase(known, "Pending")]);
  const first = texts.deltaOf([withPhase(known, "Running"), withPhase(late, "Pending")], []);
  assert.deepEqual(namesOf(first.set), ["late"]);
  assert.deepEqual(first.statuses, [{ uid: known.metadata.uid, status: `{"phase":"Running"}` }]);
  const second = texts.deltaOf([withPhase(late, "Running")], []);
  assert.deepEqual([second.set, second.statuses.length], [[], 1]);
});

test("a new definition, a removed pod that comes back and a restarted thread need the whole pod", () => {
  const texts = new PodTexts(new SharedTexts());
  const one = pod({}, "one");
  texts.reset([one]);
  const edited = { ...one, spec: { ...one.spec } };
  assert.equal(texts.deltaOf([withPhase(edited, "Pending")], []).set.length, 1);
  const { uid } = one.metadata;
  assert.deepEqual(texts.deltaOf([], [uid]), { set: [], statuses: [], removed: [uid] });
  assert.equal(texts.deltaOf([withPhase(edited, "Pending")], []).set.length, 1);
  texts.reset([]);
  assert.equal(texts.deltaOf([withPhase(edited, "Pending")], []).set.length, 1);
});

test("a pod that two threads get in one turn is made a text once, and the text is not kept", () => {
  let made = 0;
  const one = Object.assign(pod({}, "one"), {
    toJSON: () => ({ metadata: { name: `one ${++made}` } }),
  });
  const shared = new SharedTexts();
  const [first, second] = [new PodTexts(shared), new PodTexts(shared)];
  shared.sharedIn(() => {
    assert.deepEqual(first.deltaOf([one], []), second.deltaOf([one], []));
  });
  assert.equal(made, 1);
  assert.deepEqual(namesOf(new PodTexts(shared).deltaOf([one], []).set), ["one 2"]);
});
