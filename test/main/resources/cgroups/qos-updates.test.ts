// Times at which the tiers are updated: under virtual time, on a manager that only counts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { QosUpdates } from "../../../../src/main/resources/cgroups/qos-updates.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { settle } from "../../../support/sync-kit.js";
import { container, pod } from "../pods.js";

function build(updateQos: (pods: readonly Pod[], trusting?: boolean) => Promise<void>) {
  const clock = new SteppedClock();
  const kept = keptLog();
  const pods: Pod[] = [];
  const updates = new QosUpdates({ cgroups: { updateQos }, pods: () => pods, clock, log: kept.log });
  return { clock, kept, pods, updates };
}

test("many changes at once make one update with the pods of that moment, and one comes every minute", async () => {
  const seen: number[] = [];
  const { clock, pods, updates } = build((given) => Promise.resolve(void seen.push(given.length)));
  updates.changed();
  clock.step(1000);
  assert.deepEqual(seen, [], "not started");
  updates.start();
  for (let n = 0; n < 5; n++) {
    pods.push(pod([container("a")], {}, `u${n}`));
    updates.changed();
  }
  clock.step(200);
  await settle();
  assert.deepEqual(seen, [5]);
  clock.step(60_000);
  await settle();
  assert.deepEqual(seen, [5, 5]);
  await updates.stop();
  assert.equal(clock.pending, 0);
});

test("updates never overlap; a change during one makes another", async () => {
  const opens: (() => void)[] = [];
  const { clock, updates } = build(() => new Promise((resolve) => opens.push(resolve)));
  updates.start();
  clock.step(200);
  for (let n = 0; n < 3; n++) {
    updates.changed();
    clock.step(200);
  }
  assert.equal(opens.length, 1);
  opens[0]?.();
  await settle();
  assert.equal(opens.length, 2);
  const stopped = updates.stop();
  opens[1]?.();
  await stopped;
  assert.equal(opens.length, 2);
});

test("values that should not have changed are looked at every minute, and after an update that kept the minute waiting", async () => {
  const trusted: (boolean | undefined)[] = [];
  const opens: (() => void)[] = [];
  const { clock, updates } = build((_pods, trusting) => {
    trusted.push(trusting);
    return new Promise((resolve) => opens.push(resolve));
  });
  updates.start();
  clock.step(200);
  updates.changed();
  clock.step(60_000);
  updates.changed();
  clock.step(200);
  opens[0]?.();
  await settle();
  opens[1]?.();
  await settle();
  assert.deepEqual(trusted, [true, false]);
  await updates.stop();
});

test("a failing update is reported and tried again", async () => {
  let tries = 0;
  const { clock, kept, updates } = build(() => {
    tries++;
    return Promise.reject(new Error("no such tier"));
  });
  updates.start();
  clock.step(200);
  await settle();
  clock.step(60_000);
  await settle();
  assert.equal(tries, 2);
  assert.ok(kept.lines.some((line) => JSON.stringify(line).includes("no such tier")));
  await updates.stop();
});
