// Races that users of kubelets have reported, with one seed each: the agent keeps its promise in all of them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bundleSimulation, removeBundle } from "./driver/bundle.js";
import { runSeed } from "./driver/run-seed.js";
import { RACES } from "./races/all.js";
import { RACE_HOURS } from "./races/race.js";

let bundle = "";
before(async () => {
  bundle = await bundleSimulation();
});
after(async () => {
  await removeBundle(bundle);
});

// One process has a core: two have the machine when this file is the last one.
describe("races", { concurrency: 2 }, () => {
  for (const { name, promise, issue } of RACES) {
    test(`${promise} (${issue})`, async () => {
      const { violation } = await runSeed(bundle, { seed: 1, hours: RACE_HOURS, pods: 1, faults: [], race: name });
      assert.equal(violation, undefined);
    });
  }
});
