// Merging sources: order of changes, ownership of UIDs, sourcesSeen, config.seen.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CONFIG_SEEN } from "../../../../src/main/model/api-json.js";
import { PodMerger, rfc3339Nano, type PodChange, type PodSourceName } from "../../../../src/main/pods/sources/merge.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod as basePod } from "../../../support/pods.js";

const pod = (uid: string, image = "a"): Pod => basePod({ containers: [{ name: "c", image }] }, `p-${uid}`, uid);
const merger = (...sources: PodSourceName[]): PodMerger => new PodMerger(sources, () => 1_000_000_000n);
const short = (changes: PodChange[]): string[] =>
  changes.map(({ kind, source, pod }) => `${kind} ${source} ${pod.metadata.uid}`);

test("adds in the order delivered, then updates and removes; unchanged pods are silent", () => {
  const merge = merger("file");
  assert.deepEqual(short(merge.deliver("file", [pod("b"), pod("a")], true).changes), ["add file b", "add file a"]);
  assert.deepEqual(short(merge.deliver("file", [pod("b"), pod("a")], true).changes), []);
  assert.deepEqual(short(merge.deliver("file", [pod("b"), pod("a", "new")], true).changes), ["update file a"]);
  assert.deepEqual(short(merge.deliver("file", [], true).changes), ["remove file b", "remove file a"]);
});

test("a changed UID is a remove, then an add", () => {
  const merge = merger("file");
  merge.deliver("file", [pod("old")], true);
  assert.deepEqual(short(merge.deliver("file", [pod("new")], true).changes), ["remove file old", "add file new"]);
});

test("config.seen is given once per UID, grows with the adds and stays over updates", () => {
  const merge = merger("file");
  const seen = (changes: PodChange[]): (string | undefined)[] =>
    changes.map((one) => one.pod.metadata.annotations?.[CONFIG_SEEN]);
  const first = seen(merge.deliver("file", [pod("a"), pod("b")], true).changes);
  assert.deepEqual(first, ["1970-01-01T00:00:01Z", "1970-01-01T00:00:01.000000001Z"]);
  assert.deepEqual(seen(merge.deliver("file", [pod("a"), pod("b", "new")], true).changes), [first[1]]);
  assert.deepEqual(
    merge.pods().map((one) => one.metadata.uid),
    ["a", "b"],
  );
});

test("sources are seen when each has delivered a complete set, empty or not", () => {
  const merge = merger("file", "http");
  assert.equal(merge.allSourcesSeen(), false);
  merge.deliver("http", [], true);
  merge.deliver("file", [pod("a")], false);
  assert.equal(merge.allSourcesSeen(), false);
  merge.deliver("file", [pod("a")], true);
  assert.equal(merge.allSourcesSeen(), true);
  assert.equal(merger().allSourcesSeen(), true);
});

test("a UID of two sources has one owner, and the other source takes over when the owner removes it", () => {
  const merge = merger("file", "http");
  merge.deliver("http", [pod("a", "http")], true);
  const second = merge.deliver("file", [pod("a", "file")], true);
  assert.deepEqual(short(second.changes), []);
  assert.deepEqual(second.conflicts, [{ uid: "a", source: "file", pod: "default/p-a" }]);
  const handed = merge.deliver("http", [], true).changes;
  assert.deepEqual(short(handed), ["update file a"]);
  assert.equal(handed[0]?.pod.spec.containers[0]?.image, "file");
  assert.deepEqual(short(merge.deliver("file", [], true).changes), ["remove file a"]);
});

test("a UID twice in one set: the first counts", () => {
  const { changes, conflicts } = merger("file").deliver("file", [pod("a", "1"), pod("a", "2")], true);
  assert.deepEqual(short(changes), ["add file a"]);
  assert.equal(conflicts.length, 1);
});

test("time as Go prints it", () => {
  assert.equal(rfc3339Nano(1_500_000_000_120_000_000n), "2017-07-14T02:40:00.12Z");
  assert.equal(rfc3339Nano(1_500_000_000_000_000_000n), "2017-07-14T02:40:00Z");
});

test("property: replaying the changes gives the union of the sets, each UID from one of them", () => {
  const set = fc.array(fc.record({ uid: fc.constantFrom("a", "b", "c", "d"), image: fc.constantFrom("x", "y") }));
  const delivery = fc.record({ source: fc.constantFrom<PodSourceName[]>("file", "http"), set });
  fc.assert(
    fc.property(fc.array(delivery, { maxLength: 12 }), (deliveries) => {
      const merge = merger("file", "http");
      const world = new Map<string, string>();
      const last = new Map<PodSourceName, Map<string, string>>();
      for (const { source, set } of deliveries) {
        const first = new Map<string, string>();
        for (const { uid, image } of set) if (!first.has(uid)) first.set(uid, image);
        last.set(source, first);
        for (const { kind, pod: changed } of merge.deliver(
          source,
          set.map((one) => pod(one.uid, one.image)),
          true,
        ).changes) {
          const { uid } = changed.metadata;
          assert.equal(world.has(uid), kind !== "add", `${kind} ${uid}`);
          if (kind === "remove") world.delete(uid);
          else world.set(uid, changed.spec.containers[0]?.image ?? "");
        }
        const expected = new Set([...last.values()].flatMap((one) => [...one.keys()]));
        assert.deepEqual(new Set(world.keys()), expected);
        for (const [uid, image] of world) assert.ok([...last.values()].some((one) => one.get(uid) === image));
      }
    }),
  );
});

test("single pods of a source come, change and go without the others", () => {
  const merge = merger("file", "api");
  merge.deliver("file", [pod("s")], true);
  merge.deliver("api", [pod("a"), pod("b")], true);
  assert.deepEqual(short(merge.set("api", pod("c")).changes), ["add api c"]);
  assert.deepEqual(short(merge.set("api", pod("c")).changes), []);
  assert.deepEqual(short(merge.set("api", pod("a", "new")).changes), ["update api a"]);
  assert.deepEqual(short(merge.drop("api", podUid("b")).changes), ["remove api b"]);
  assert.deepEqual(short(merge.drop("api", podUid("b")).changes), []);
  assert.deepEqual(short(merge.deliver("api", [pod("a", "new"), pod("c")], true).changes), []);
});

test("a single pod with the UID of another source's is left out until that one goes", () => {
  const merge = merger("file", "api");
  merge.deliver("file", [pod("x")], true);
  const { changes, conflicts } = merge.set("api", pod("x", "other"));
  assert.deepEqual(short(changes), []);
  assert.deepEqual(conflicts, [{ uid: "x", source: "api", pod: "default/p-x" }]);
  assert.deepEqual(short(merge.deliver("file", [], true).changes), ["update api x"]);
  assert.deepEqual(short(merge.drop("file", podUid("x")).changes), []);
  assert.deepEqual(short(merge.drop("api", podUid("x")).changes), ["remove api x"]);
});

test("property: single changes and whole sets come to the same", () => {
  const change = fc.record({
    uid: fc.constantFrom(...["a", "b", "c"].map(podUid)),
    image: fc.constantFrom("", "1", "2"),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const [single, whole] = [merger("api"), merger("api")];
      const set = new Map<string, Pod>();
      for (const { uid, image } of changes) {
        if (image === "") set.delete(uid);
        else set.set(uid, pod(uid, image));
        const one = set.get(uid);
        const left = one === undefined ? single.drop("api", uid) : single.set("api", one);
        assert.deepEqual(short(left.changes), short(whole.deliver("api", [...set.values()], true).changes));
      }
    }),
  );
});
