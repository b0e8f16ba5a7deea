// Definitions of pods that wait for a decision: together they have a bounded size, and each is read in the end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BUDGET_BYTES, DefinitionBudget } from "../../../../src/main/pods/sources/definition-budget.js";
import { ApiConnectionError, ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const MIB = 1024 * 1024;

function sized(name: string, bytes: number): Pod {
  const made = pod({}, name);
  made.metadata.annotations = { text: "x".repeat(bytes) };
  return made;
}

function build() {
  const objects = new Map<string, Pod>();
  const reads: string[] = [];
  const arrived: string[] = [];
  const clock = new SteppedClock();
  const kept = keptLog();
  const trouble: { error?: Error } = {};
  let atOnce = 0;
  const budget = new DefinitionBudget({
    async read({ name }) {
      reads.push(name);
      assert.equal(++atOnce, 1, "one at a time");
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      if (trouble.error !== undefined) throw trouble.error;
      const found = objects.get(name);
      if (found === undefined) throw new ApiError(404, "NotFound", "gone");
      return found;
    },
    arrived(object) {
      if (budget.takes(object)) arrived.push(object.metadata.name);
    },
    clock,
    log: kept.log,
  });
  /** The source's side of one object. */
  const offer = (object: Pod): boolean => {
    objects.set(object.metadata.name, object);
    return budget.takes(object);
  };
  return { budget, offer, objects, reads, arrived, clock, kept, trouble };
}

test("of large pods as many are kept as the budget has room for; each other one is read when there is room again", async () => {
  const { budget, offer, reads, arrived } = build();
  const names = Array.from({ length: 100 }, (_, at) => `p${at}`);
  const taken = names.filter((name) => offer(sized(name, MIB)));
  assert.equal(taken.length, Math.floor(BUDGET_BYTES / (MIB + 1000)));
  assert.ok(budget.waits(podUid("uid-p99")) && !budget.waits(podUid("uid-p0")));
  for (const name of taken) budget.decided(podUid(`uid-${name}`));
  for (let done = taken.length; done < names.length; done++) {
    await until("another one", () => arrived.length > done - taken.length);
    budget.decided(podUid(`uid-${arrived[done - taken.length]}`));
  }
  assert.deepEqual(arrived, names.slice(taken.length), "in the order of their arrival");
  assert.deepEqual(reads, arrived);
  await budget.stop();
});

test("pods of ordinary size do not wait for the large ones", () => {
  const { offer, budget } = build();
  while (offer(sized(`large-${Math.random()}`, MIB)));
  for (let at = 0; at < 200; at++) assert.ok(offer(sized(`small-${at}`, 20_000)));
  assert.equal(budget.waits(podUid("uid-small-0")), false);
});

test("thousands of ordinary pods together are bounded, too", () => {
  const { offer } = build();
  let taken = 0;
  for (let at = 0; at < 1000; at++) if (offer(sized(`p${at}`, 60_000))) taken++;
  assert.ok(taken * 60_000 <= BUDGET_BYTES && taken > 200, String(taken));
});

test("a pod that is kept stays kept when it changes, and a pod that fits nowhere is taken when nothing else is kept", async () => {
  const { offer, budget, arrived } = build();
  assert.ok(offer(sized("huge", 20 * MIB)));
  assert.ok(offer(sized("huge", 21 * MIB)));
  assert.equal(offer(sized("other", 20 * MIB)), false);
  budget.decided(podUid("uid-huge"));
  await until("the other one", () => arrived.length === 1);
  await budget.stop();
});

test("a pod whose size fits no free half is read once, and again when all others are decided on", async () => {
  const { offer, budget, arrived, reads } = build();
  assert.ok(offer(sized("a", 6 * MIB)) && offer(sized("b", 6 * MIB)));
  assert.equal(offer(sized("huge", 14 * MIB)), false);
  budget.decided(podUid("uid-a"));
  await until("a try", () => reads.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([reads.length, arrived.length], [1, 0]);
  budget.decided(podUid("uid-b"));
  await until("the huge one", () => arrived.length === 1);
  await budget.stop();
});

test("a pod that was deleted meanwhile, or has another's name by now, ends the wait; a server that is away is asked again", async () => {
  const { offer, budget, objects, arrived, clock, kept, trouble, reads } = build();
  const first = sized("first", 15 * MIB);
  assert.ok(offer(first));
  for (const name of ["deleted", "renamed", "good"]) assert.equal(offer(sized(name, 2 * MIB)), false);
  objects.delete("deleted");
  const other = sized("renamed", 10);
  other.metadata.uid = podUid("another");
  objects.set("renamed", other);
  trouble.error = new ApiConnectionError("nobody answers");
  budget.decided(podUid("uid-first"));
  await until("it waits", () => clock.pending === 1);
  clock.step(500);
  await until("it waits again", () => reads.length === 2 && clock.pending === 1);
  assert.deepEqual(kept.warnings().length, 1);
  delete trouble.error;
  clock.step(1000);
  await until("the good one", () => arrived.length === 1);
  assert.deepEqual(arrived, ["good"]);
  assert.ok(!budget.waits(podUid("uid-deleted")) && !budget.waits(podUid("uid-renamed")));
  await budget.stop();
});

test("a pod that is over before it was read is not read", async () => {
  const { offer, budget, reads } = build();
  assert.ok(offer(sized("first", 15 * MIB)));
  assert.equal(offer(sized("second", 2 * MIB)), false);
  budget.decided(podUid("uid-second"));
  budget.decided(podUid("uid-first"));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(reads, []);
  await budget.stop();
});
