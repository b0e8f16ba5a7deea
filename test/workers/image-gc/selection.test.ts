// Which images may go, in which order, and how much: upstream's rules as tables.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEVER } from "../../../src/shared/contracts/image-gc.js";
import { byteSize } from "../../../src/workers/image-gc/byte-size.js";
import { ImageRecords, recordKey, type ImageRecord } from "../../../src/workers/image-gc/records.js";
import {
  bytesToFree,
  inEvictionOrder,
  mayFree,
  nextBatch,
  tooOld,
  usedPercent,
} from "../../../src/workers/image-gc/selection.js";

function record(id: string, fields: Partial<ImageRecord> = {}): ImageRecord {
  return {
    id,
    runtimeHandler: "",
    repoTags: [],
    repoDigests: [],
    size: 10,
    pinned: false,
    inUse: false,
    firstSeen: 0,
    lastUsed: NEVER,
    ...fields,
  };
}
const ids = (records: readonly ImageRecord[]): string[] => records.map(({ id }) => id);

describe("how much is to be freed", () => {
  // capacity, available, high, low, used %, bytes
  const cases: [number, number, number, number, number, number][] = [
    [1000, 200, 85, 80, 80, 0],
    [1000, 151, 85, 80, 85, 49],
    [1000, 150, 85, 80, 85, 50],
    [1000, 159, 85, 80, 85, 41],
    [1000, 160, 85, 80, 84, 0],
    [1000, 0, 85, 80, 100, 200],
    [1000, 0, 100, 99, 100, 10],
    [1000, 500, 1, 0, 50, 500],
    // A file system that reports more free than it has.
    [1000, 1100, 85, 80, 0, 0],
    [999, 100, 85, 80, 90, 99],
  ];
  for (const [capacity, available, high, low, used, bytes] of cases) {
    test(`${available} of ${capacity} free, thresholds ${high}/${low}: ${used} % used, free ${bytes}`, () => {
      const fs = { mountpoint: "/", capacity, available };
      assert.equal(usedPercent(fs), used);
      assert.equal(bytesToFree(fs, { imageGCHighThresholdPercent: high, imageGCLowThresholdPercent: low }), bytes);
    });
  }
});

describe("candidates", () => {
  test("last used first, then first seen; neither used nor pinned ones", () => {
    const records = [
      record("new", { lastUsed: 50, firstSeen: 5 }),
      record("used", { inUse: true }),
      record("pinned", { pinned: true }),
      record("old", { lastUsed: 20, firstSeen: 9 }),
      record("older", { lastUsed: 20, firstSeen: 3 }),
      record("never", { firstSeen: 40 }),
    ];
    assert.deepEqual(ids(inEvictionOrder(records)), ["never", "older", "old", "new"]);
  });

  test("neither used since the run began nor younger than the minimum age", () => {
    const records = [
      record("fine", { lastUsed: 99, firstSeen: 40 }),
      record("just-used", { lastUsed: 100, firstSeen: 0 }),
      record("young", { firstSeen: 41 }),
      record("never", { firstSeen: NEVER }),
    ];
    assert.deepEqual(ids(mayFree(records, 100, 100, 60)), ["fine", "never"]);
  });

  test("an image from before the kubelet is old on a machine that has just started, too", () => {
    const records = [record("b", { firstSeen: NEVER }), record("a", { firstSeen: NEVER }), record("new")];
    assert.deepEqual(ids(mayFree(inEvictionOrder(records), 5, 6, 60)), ["a", "b"]);
  });

  test("too old is unused for longer than the limit; never used counts; 0 is no limit", () => {
    const records = [record("at", { lastUsed: 40 }), record("over", { lastUsed: 39 }), record("never")];
    assert.deepEqual(ids(tooOld(records, 100, 60)), ["over", "never"]);
    assert.deepEqual(tooOld(records, 100, 0), []);
  });

  test("a batch is as many as are needed, up to its limit", () => {
    const records = ["a", "b", "c", "d"].map((id) => record(id));
    assert.deepEqual(ids(nextBatch(records, 15, 8)), ["a", "b"]);
    assert.deepEqual(ids(nextBatch(records, 20, 8)), ["a", "b"]);
    assert.deepEqual(ids(nextBatch(records, Infinity, 3)), ["a", "b", "c"]);
  });
});

test("records keep when an image was first detected and last used, and drop images that are no longer listed", () => {
  const records = new ImageRecords();
  const [a, b] = [record("a"), record("b")];
  records.update([a], new Set([recordKey(a)]), 10, NEVER);
  records.update([a, b], new Set(), 20, 20);
  const seen = records.all().map(({ id, firstSeen, lastUsed, inUse }) => ({ id, firstSeen, lastUsed, inUse }));
  assert.deepEqual(seen, [
    { id: "a", firstSeen: NEVER, lastUsed: 10, inUse: false },
    { id: "b", firstSeen: 20, lastUsed: NEVER, inUse: false },
  ]);
  records.update([b], new Set([recordKey(b)]), 30, 30);
  assert.deepEqual(ids(records.all()), ["b"]);
  records.update([a, b], new Set(), 40, 40);
  assert.equal(records.all().find(({ id }) => id === "a")?.firstSeen, 40);
});

test("the copies of an image for two runtime handlers have a record each", () => {
  const records = new ImageRecords();
  const [runc, kata] = [record("a"), record("a", { runtimeHandler: "kata" })];
  records.update([runc, kata], new Set([recordKey(kata)]), 10, NEVER);
  assert.deepEqual(
    records.all().map(({ runtimeHandler, inUse }) => [runtimeHandler, inUse]),
    [
      ["", false],
      ["kata", true],
    ],
  );
  assert.deepEqual(
    nextBatch([runc, kata], Infinity, 8),
    [runc],
    "copies share a grant, so they go one after the other",
  );
  records.forget(runc);
  assert.deepEqual(
    records.all().map(({ runtimeHandler }) => runtimeHandler),
    ["kata"],
  );
});

test("sizes are printed in binary units", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 3 * 1024 ** 3].map(byteSize), ["0 B", "1023 B", "1 KiB", "1.5 KiB", "3 GiB"]);
});
