// The images of the Node object: biggest first, few names each.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { biggestImages } from "../../../src/workers/pleg/image-list.js";

const image = (id: string, size: number, repoTags: string[], repoDigests: string[] = []) => ({
  id,
  size: BigInt(size),
  repoTags,
  repoDigests,
  uid: undefined,
  username: "",
  spec: undefined,
  pinned: false,
});
const cri = {
  listImages: () =>
    Promise.resolve({
      images: [
        image("a", 1, ["small:1"]),
        image("b", 3, ["1", "2", "3", "4"], ["d1", "d2"]),
        image("c", 2, ["middle:1"]),
        image("d", 2, ["other:1"]),
      ],
    }),
};

const BIG = { names: ["d1", "d2", "1", "2", "3"], sizeBytes: 3 };
const OTHER = { names: ["other:1"], sizeBytes: 2 };
const MIDDLE = { names: ["middle:1"], sizeBytes: 2 };
const SMALL = { names: ["small:1"], sizeBytes: 1 };

for (const [max, expected] of [
  [2, [BIG, OTHER]],
  [0, []],
  [-1, [BIG, OTHER, MIDDLE, SMALL]],
] as const) {
  test(`at most ${max}`, async () => deepEqual(await biggestImages(cri, max), expected));
}
