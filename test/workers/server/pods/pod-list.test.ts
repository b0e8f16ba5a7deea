// The memory of large definitions in a server's thread: given back when they are not needed any more, and never under a
// list.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodText } from "../../../../src/shared/contracts/server.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { PodList } from "../../../../src/workers/server/pods/pod-list.js";
import { pod } from "../../../support/pods.js";

const HAS_TRANSFER = "transfer" in ArrayBuffer.prototype;

function large(hostname: string): { text: PodText; bytes: Uint8Array<ArrayBuffer> } {
  const { metadata, spec } = pod({ hostname: hostname.repeat(100_000) }, "large");
  const bytes = new TextEncoder().encode(JSON.stringify({ metadata, spec }));
  const { uid, name } = metadata;
  return {
    text: { uid, status: "{}", definition: { name, namespace: "default", isDeleting: false, text: bytes } },
    bytes,
  };
}

const hostnameOf = (list: PodList): string | undefined => list.get(podUid("uid-large"))?.spec.hostname?.slice(0, 1);

test("a large definition is given back when another replaces it or its pod goes", { skip: !HAS_TRANSFER }, () => {
  const list = new PodList(() => Promise.resolve());
  const [first, second, third] = [large("a"), large("b"), large("c")];
  list.apply({ set: [first.text], removed: [] });
  list.apply({ set: [{ uid: podUid("uid-large"), status: '{"phase":"Running"}' }], removed: [] });
  assert.deepEqual([first.bytes.length > 0, hostnameOf(list)], [true, "a"], "a new status keeps it");
  list.apply({ set: [second.text], removed: [] });
  assert.deepEqual([first.bytes.length, hostnameOf(list)], [0, "b"]);
  list.apply({ set: [], removed: [podUid("uid-large")] });
  assert.deepEqual([second.bytes.length, list.size], [0, 0]);
  list.apply({ set: [third.text], removed: [] });
  list.clear();
  assert.equal(third.bytes.length, 0);
});

test("a list that is being written shows the pods of its beginning", () => {
  const list = new PodList(() => Promise.resolve());
  const first = large("a");
  list.apply({ set: [first.text], removed: [] });
  const chunks = list.chunks();
  const parts = [chunks.next().value as Buffer];
  list.apply({ set: [large("b").text], removed: [] });
  list.apply({ set: [], removed: [podUid("uid-large")] });
  parts.push(...chunks);
  const { items } = JSON.parse(Buffer.concat(parts).toString()) as { items: { spec: { hostname: string } }[] };
  assert.deepEqual(
    items.map(({ spec }) => spec.hostname),
    ["a".repeat(100_000)],
  );
  const pods = list.all();
  assert.equal(pods.next().done, true);
});
