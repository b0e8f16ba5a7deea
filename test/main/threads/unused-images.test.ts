// Unused images as the nodelet command lists them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { unusedImagesOf } from "../../../src/main/threads/unused-images.js";
import { NEVER, type KnownImage } from "../../../src/shared/contracts/image-gc.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const known = (id: string, lastUsed: number, firstSeen: number, unused = true): KnownImage => ({
  id,
  runtimeHandler: "",
  unused,
  firstSeen,
  lastUsed,
});

test("unused images are listed in the order of their removal, with moments of wall time", () => {
  const clock = new SteppedClock(1_000_000);
  clock.step(500);
  const images = [
    known("used", 400, 100, false),
    known("b", 300, 100),
    known("a", 300, 50),
    known("old", NEVER, NEVER),
  ];
  assert.deepEqual(unusedImagesOf(images, clock), [
    { id: "old" },
    { id: "a", lastUsedAt: 1_000_300, firstSeenAt: 1_000_050 },
    { id: "b", lastUsedAt: 1_000_300, firstSeenAt: 1_000_100 },
  ]);
});
