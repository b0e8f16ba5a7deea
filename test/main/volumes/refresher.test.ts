// Times at which volumes of running pods are updated, under virtual time.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Refresher } from "../../../src/main/volumes/world/refresher.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { SteppedClock } from "../../support/stepped-clock.js";

function world(random = 1) {
  const clock = new SteppedClock();
  const runs: { uid: string; at: number; signal: AbortSignal; end: (ok: boolean) => void }[] = [];
  const refresher = new Refresher({
    clock,
    intervalMs: 60_000,
    random: () => random,
    refresh: (uid, signal) => new Promise((resolve) => runs.push({ uid, at: clock.now(), signal, end: resolve })),
    onError: (uid) => assert.fail(`the refresh of ${uid} rejected`),
  });
  const end = async (ok = true): Promise<void> => {
    runs.at(-1)?.end(ok);
    await new Promise(setImmediate);
  };
  return { clock, runs, refresher, end, order: () => runs.map(({ uid, at }) => `${uid}@${at}`) };
}

test("every interval, less a part by chance; one pod at a time", async () => {
  for (const [random, first] of [
    [1, 60_000],
    [0, 45_000],
  ] as const) {
    const { clock, refresher, order, end } = world(random);
    refresher.watch(podUid("a"));
    refresher.watch(podUid("a"));
    refresher.watch(podUid("b"));
    clock.step(first);
    assert.deepEqual(order(), [`a@${first}`], "b waits for a");
    clock.step(1000);
    await end();
    clock.step(0);
    await end();
    clock.step(first);
    await end();
    clock.step(1000);
    const second = 2 * first + 1000;
    assert.deepEqual(order(), [`a@${first}`, `b@${first + 1000}`, `a@${second}`, `b@${second}`]);
  }
});

test("volumes that an earlier kubelet set up are looked at 5 to 15 s after the start", async () => {
  for (const [random, first] of [
    [1, 15_000],
    [0, 5000],
  ] as const) {
    const { clock, refresher, order, end } = world(random);
    refresher.watch(podUid("a"), true);
    refresher.watch(podUid("a"));
    clock.step(first - 1);
    assert.deepEqual(order(), []);
    clock.step(1);
    await end();
    clock.step(60_000);
    assert.deepEqual(order(), [`a@${first}`, `a@${first + (random === 1 ? 60_000 : 45_000)}`]);
  }
});

test("a change is looked at next; one that comes meanwhile is looked at again", async () => {
  const { clock, refresher, order, end } = world();
  refresher.watch(podUid("a"));
  clock.step(1000);
  refresher.soon(podUid("a"));
  refresher.soon(podUid("unknown"));
  clock.step(0);
  refresher.soon(podUid("a"));
  await end();
  clock.step(0);
  await end();
  clock.step(59_999);
  assert.deepEqual(order(), ["a@1000", "a@1000"]);
  clock.step(1);
  assert.deepEqual(order().at(-1), "a@61000");
});

test("a failed update is repeated earlier than the interval", async () => {
  const { clock, refresher, order, end } = world();
  refresher.watch(podUid("a"));
  clock.step(60_000);
  for (const delay of [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    await end(false);
    clock.step(delay - 1);
    const before = order().length;
    clock.step(1);
    assert.equal(order().length, before + 1, `after ${delay}`);
  }
  await end(true);
  const before = order().length;
  clock.step(59_999);
  assert.equal(order().length, before);
});

test("forgetting ends the look under way, and waits for it; so does stopping", async () => {
  const { clock, refresher, runs, end } = world();
  refresher.watch(podUid("a"));
  refresher.watch(podUid("b"));
  refresher.soon(podUid("a"));
  clock.step(0);
  let forgotten = false;
  const forget = refresher.forget(podUid("a")).then(() => (forgotten = true));
  await new Promise(setImmediate);
  assert.deepEqual([runs[0]?.signal.aborted, forgotten], [true, false]);
  await end(false);
  await forget;
  clock.step(60_000);
  assert.equal(runs.at(-1)?.uid, "b");
  const stop = refresher.stop();
  assert.equal(runs.at(-1)?.signal.aborted, true);
  await end();
  await stop;
  refresher.watch(podUid("c"));
  assert.equal(clock.pending, 0);
});

test("a refresh that rejects is repeated as a failed one, and keeps no other pod from being refreshed", async () => {
  const clock = new SteppedClock();
  const [begun, errors]: [string[], string[]] = [[], []];
  const refresher = new Refresher({
    clock,
    intervalMs: 60_000,
    random: () => 1,
    refresh: (uid) => {
      begun.push(`${uid}@${clock.now()}`);
      return uid === "bad" ? Promise.reject(new Error("a defect")) : Promise.resolve(true);
    },
    onError: (uid, error) => errors.push(`${uid}: ${String(error)}`),
  });
  for (const uid of ["bad", "good"]) refresher.watch(podUid(uid));
  clock.step(60_000);
  await new Promise(setImmediate);
  clock.step(0);
  await new Promise(setImmediate);
  clock.step(2000);
  assert.deepEqual(begun, ["bad@60000", "good@60000", "bad@62000"]);
  assert.deepEqual(errors, ["bad: Error: a defect"]);
  await refresher.stop();
});
