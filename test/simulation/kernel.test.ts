// The kernel of the simulation: order of callbacks, their promises, and owners that stall.

import assert from "node:assert/strict";
import { test } from "node:test";
import { messageOf } from "../../src/shared/base/errors/thrown.js";
import { kernel } from "./kernel/kernel.js";
import { Owner } from "./kernel/owner.js";
import { sharedRead } from "./modules/shared-read.js";

/** Runs until `ms` later, and gives the errors that callbacks threw. */
async function runFor(ms: number): Promise<string[]> {
  const errors: string[] = [];
  const end = kernel.monotonic + ms;
  kernel.after(kernel.world, ms, () => undefined);
  await kernel.run(() => kernel.monotonic >= end, {
    uncaught: ({ name }, error) => errors.push(`${name}: ${messageOf(error)}`),
  });
  return errors;
}

test("all promises and ticks of a callback are done before the next callback", async () => {
  const owner = new Owner("one", kernel.world);
  const order: string[] = [];
  kernel.after(owner, 1, () => {
    process.nextTick(() => order.push("tick"));
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => process.nextTick(() => order.push("tick of a promise")));
  });
  kernel.after(owner, 1, () => order.push("next"));
  await runFor(5);
  assert.deepEqual(order, ["tick", "tick of a promise", "next"]);
});

test("an error of a callback names its owner, and its promises are done", async () => {
  const owner = new Owner("one", kernel.world);
  const order: string[] = [];
  kernel.after(owner, 1, () => {
    void Promise.resolve().then(() => order.push("promise"));
    throw new Error("of a callback");
  });
  kernel.after(owner, 1, () => order.push("next"));
  assert.deepEqual(await runFor(5), ["one: of a callback"]);
  assert.deepEqual(order, ["promise", "next"]);
});

test("a stalled owner runs what became ready when it goes on, in order, and others run meanwhile", async () => {
  const [stalled, other] = [new Owner("stalled", kernel.world), new Owner("other", kernel.world)];
  const order: string[] = [];
  const begin = kernel.monotonic;
  const say = (text: string) => () => void order.push(`${text} ${kernel.monotonic - begin}`);
  kernel.after(stalled, 3, say("timer"));
  kernel.after(kernel.world, 4, () => kernel.post(stalled, say("message")));
  kernel.after(other, 5, say("other"));
  kernel.stall(stalled, 10);
  await runFor(20);
  assert.deepEqual(order, ["other 5", "timer 10", "message 10"]);
});

test("a timer that is cancelled while its owner stalls does not run", async () => {
  const owner = new Owner("stalled", kernel.world);
  const order: string[] = [];
  const timer = kernel.after(owner, 3, () => order.push("cancelled"));
  kernel.stall(owner, 10);
  kernel.after(kernel.world, 5, () => timer.cancel());
  await runFor(20);
  assert.deepEqual(order, []);
});

test("an owner that dies while it stalls runs nothing", async () => {
  const owner = new Owner("stalled", kernel.world);
  const order: string[] = [];
  kernel.after(owner, 3, () => order.push("dead"));
  kernel.stall(owner, 10);
  kernel.after(kernel.world, 5, () => owner.kill());
  await runFor(20);
  assert.deepEqual(order, []);
});

test("a reading that the end of its process has cut off is not shared with the next process", async () => {
  const [first, second] = [new Owner("first", kernel.world), new Owner("second", kernel.world)];
  let readings = 0;
  const read = sharedRead(() => {
    readings++;
    return new Promise<string>((resolve) => kernel.after(kernel.current, 5, () => resolve("the table")));
  });
  const seen: string[] = [];
  const look = (owner: Owner): void =>
    kernel.post(owner, () => void read().then((text) => seen.push(`${owner.name}: ${text}`)));
  look(first);
  kernel.after(kernel.world, 2, () => first.kill());
  kernel.after(kernel.world, 10, () => look(second));
  await runFor(30);
  assert.deepEqual(seen, ["second: the table"]);
  assert.equal(readings, 2);
});
