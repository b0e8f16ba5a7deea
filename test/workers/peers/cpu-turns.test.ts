// The order and the pauses of costly pieces of work, and the budget of a pod, with a clock and a processor time of the
// test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { BUDGET_MS, FREE_MS, OverBudgetError, PeerAccounts } from "../../../src/workers/peers/accounts.js";
import { CpuTurns } from "../../../src/workers/peers/cpu-turns.js";
import { SteppedClock } from "../../support/stepped-clock.js";

function build() {
  const clock = new SteppedClock();
  const accounts = new PeerAccounts(clock);
  let cpu = 0;
  const turns = new CpuTurns(clock, () => cpu);
  const order: string[] = [];
  /** A piece of work that costs so much. */
  const piece = (name: string, cost: number) => () => {
    cpu += cost;
    order.push(name);
  };
  return { clock, accounts, turns, order, piece };
}

test("cheap pieces are done at once", () => {
  const { clock, accounts, turns, order, piece } = build();
  const run = accounts.startRun(podUid("a"));
  for (let count = 0; count < 100; count++) assert.equal(turns.take(run, piece("a", 2)), true);
  assert.equal(order.length, 100);
  assert.equal(clock.pending, 0);
});

test("after a costly piece the thread rests as long, and the pod that has cost least is next", () => {
  const { clock, accounts, turns, order, piece } = build();
  const waited: number[] = [];
  const [hostile, dear] = [accounts.startRun(podUid("hostile")), accounts.startRun(podUid("dear"))];
  const cheap = accounts.startRun(podUid("cheap"), (ms) => waited.push(ms));
  dear.charge(50);
  assert.equal(turns.take(hostile, piece("hostile", 200)), true);
  assert.equal(turns.take(hostile, piece("hostile again", 200)), false);
  assert.equal(turns.take(dear, piece("dear", 1)), false);
  assert.equal(turns.take(cheap, piece("cheap", 1)), false);
  assert.equal(turns.take(cheap, piece("cheap again", 1)), false);
  clock.step(199);
  assert.deepEqual(order, ["hostile"]);
  clock.step(1);
  assert.deepEqual(waited, [200, 200]);
  assert.deepEqual(order, ["hostile", "cheap", "cheap again", "dear", "hostile again"]);
  clock.step(200);
  assert.equal(clock.pending, 0);
});

test("a piece that throws is charged, and the next one gets its turn", () => {
  const { clock, accounts, turns, order, piece } = build();
  const run = accounts.startRun(podUid("a"));
  const broken = (): void => {
    piece("broken", 100)();
    throw new Error("broken");
  };
  assert.throws(() => turns.take(run, broken), /broken/);
  assert.equal(run.attainedMs, 100);
  turns.take(run, piece("next", 1));
  clock.step(100);
  assert.deepEqual(order, ["broken", "next"]);
});

test("an honest pod is never over its budget, however many connections it has", () => {
  const { accounts } = build();
  for (let count = 0; count < 10_000; count++) {
    const run = accounts.startRun(podUid("a"));
    run.check();
    run.charge(FREE_MS / 2);
    run.charge(FREE_MS / 2);
  }
});

test("a pod over its budget is refused until a part is given back; other pods are not", () => {
  const { clock, accounts } = build();
  const run = accounts.startRun(podUid("a"));
  run.charge(FREE_MS + BUDGET_MS);
  run.check();
  run.charge(10);
  assert.throws(() => run.check(), OverBudgetError);
  assert.throws(() => accounts.startRun(podUid("a")).check(), /used 0\.5 s of processor time within 60 s/);
  accounts.startRun(podUid("b")).check();
  clock.step(2_000);
  accounts.startRun(podUid("a")).check();
});

test("accounts of pods that cost nothing any more are dropped", () => {
  const { clock, accounts } = build();
  for (let count = 0; count < 1_000; count++) {
    accounts.startRun(podUid(`pod ${count}`)).charge(1);
    clock.step(1_000);
  }
  assert.ok(accounts.size < 300, String(accounts.size));
});
