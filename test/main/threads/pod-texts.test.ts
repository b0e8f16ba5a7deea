import assert from "node:assert/strict";
import { test } from "node:test";
import { PodTexts } from "../../../src/main/threads/pod-texts.js";
import type { Pod } from "../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../support/pods.js";

const withPhase = (one: Pod, phase: "Pending" | "Running"): Pod => ({ ...one, status: { phase } });

test("a pod whose status alone changed is sent without its definition", () => {
  const texts = new PodTexts();
  const one = pod({}, "one");
  const first = texts.textOf(withPhase(one, "Pending"));
  assert.equal(first.definition?.name, "one");
  assert.deepEqual(JSON.parse(String(first.definition.text)), { metadata: one.metadata, spec: one.spec });
  assert.deepEqual(texts.textOf(withPhase(one, "Running")), { uid: "uid-one", status: `{"phase":"Running"}` });
});

test("a definition has the digits of integers that numbers cannot hold", () => {
  const path = ["spec", "terminationGracePeriodSeconds"];
  const one: Pod = {
    ...pod({ terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER }, "one"),
    wideIntegers: [{ path, digits: "9223372036854775807" }],
  };
  const text = String(new PodTexts().textOf(withPhase(one, "Pending")).definition?.text);
  assert.match(text, /"terminationGracePeriodSeconds":9223372036854775807[,}]/);
  assert.doesNotMatch(text, /wideIntegers/);
});

test("a new definition, a pod that the thread may not have and a restarted thread need the whole pod", () => {
  const texts = new PodTexts();
  const one = pod({}, "one");
  texts.textOf(one);
  const edited = { ...one, spec: { ...one.spec } };
  assert.ok(texts.textOf(edited).definition !== undefined);
  assert.ok(texts.textOf(edited).definition === undefined);
  texts.forget(podUid("uid-one"));
  assert.ok(texts.textOf(edited).definition !== undefined);
  texts.reset();
  assert.ok(texts.textOf(edited).definition !== undefined);
});

test("a large definition is sent as bytes that belong to the thread alone", () => {
  const large = pod({ hostname: "é".repeat(64 * 1024) }, "large");
  const texts = [new PodTexts(), new PodTexts()].map((one) => one.textOf(large).definition?.text);
  const buffers = texts.map((text) => (text instanceof Uint8Array ? text.buffer : undefined));
  assert.notEqual(buffers[0], buffers[1]);
  for (const buffer of buffers) {
    const json = JSON.parse(Buffer.from(buffer ?? new ArrayBuffer(0)).toString()) as Pod;
    assert.equal(json.spec.hostname, large.spec.hostname);
  }
});
