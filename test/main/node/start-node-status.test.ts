// The images of the Node object: requested periodically, and soon again after a failure.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { watchNodeImages } from "../../../src/main/node/node-images.js";
import type { ContainerImage } from "../../../src/shared/kubernetes/api/node.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";
import { settle } from "../../support/sync-kit.js";

const IMAGES_PERIOD_MS = 30_000;

test("called at once, again after a second if it failed, then every 30 s; not after the stop", async () => {
  const clock = new SteppedClock();
  const found: ContainerImage[][] = [];
  let away = true;
  let asked = 0;
  const end = watchNodeImages({
    list: () => {
      asked++;
      return away ? Promise.reject(new Error("away")) : Promise.resolve([{ names: [String(asked)] }]);
    },
    found: (images) => found.push(images),
    clock,
    log: keptLog().log,
  });
  await settle();
  away = false;
  clock.step(1000);
  await settle();
  clock.step(IMAGES_PERIOD_MS);
  await settle();
  deepEqual(found, [[{ names: ["2"] }], [{ names: ["3"] }]]);
  clock.step(IMAGES_PERIOD_MS);
  end();
  await settle();
  clock.step(10 * IMAGES_PERIOD_MS);
  deepEqual([found.length, clock.pending], [2, 0]);
  equal(asked, 4);
});
