// Races that users of kubelets have reported, with two seeds each: the agent keeps its promise in all of them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bundleSimulation, removeBundle } from "./driver/bundle.js";
import { runSeed } from "./driver/run-seed.js";
import { RACES } from "./races/all.js";
import { RACE_HOURS } from "./races/race.js";

const SEEDS = [1, 2];

let bundle = "";
before(async () => {
  bundle = await bundleSimulation();
});
after(async () => {
  await removeBundle(bundle);
});

for (const { name, promise, issue } of RACES) {
  test(`${promise} (${issue})`, async () => {
    const order = { hours: RACE_HOURS, pods: 1, faults: [], race: name };
    const results = await Promise.all(SEEDS.map((seed) => runSeed(bundle, { ...order, seed })));
    for (const { violation } of results) assert.equal(violation, undefined);
  });
}
