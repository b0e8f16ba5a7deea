// What must always hold in src/shared: code that breaks it gets an InvariantError with the rule in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { monotonicTime } from "../../../src/shared/base/clock/moments.js";
import { invariant, InvariantError } from "../../../src/shared/base/errors/invariant.js";
import { RingWord } from "../../../src/shared/base/queue/layout.js";
import { RingConsumer } from "../../../src/shared/base/queue/ring-consumer.js";
import { RingProducer } from "../../../src/shared/base/queue/ring-producer.js";
import { createRing, viewRing } from "../../../src/shared/base/queue/ring-view.js";
import { backoffMs } from "../../../src/shared/base/turns/backoff.js";
import { mapAtMost } from "../../../src/shared/base/turns/map-at-most.js";
import { TimerWheel } from "../../../src/shared/node/probes/timer-wheel.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const RECORD = new Uint8Array(4);
const broken = (rule: string) => ({ name: "InvariantError", message: `invariant broken: ${rule}` });

test("invariant() throws with the expectation, and does nothing where the condition holds", () => {
  invariant(true, "never seen");
  assert.throws(() => invariant(false, "a pod has a name"), broken("a pod has a name"));
  assert.ok(new InvariantError("x") instanceof Error);
});

test("two producers of one ring are found at the next push", () => {
  const buffers = createRing();
  const [first, second] = [new RingProducer(buffers), new RingProducer(buffers)];
  assert.equal(first.tryPush(RECORD), true);
  assert.throws(() => second.tryPush(RECORD), broken("a ring has one producer"));
  assert.equal(first.tryPush(RECORD), true, "the ring is as the first left it");
});

test("two consumers of one ring are found when the second takes a batch", () => {
  const buffers = createRing();
  const producer = new RingProducer(buffers);
  const [first, second] = [new RingConsumer(buffers), new RingConsumer(buffers)];
  producer.tryPush(RECORD);
  first.drain(() => undefined);
  producer.tryPush(RECORD);
  assert.throws(() => second.drain(() => undefined), broken("a ring has one consumer"));
});

test("a consumer that left records of drain() cannot peek", () => {
  const buffers = createRing();
  const producer = new RingProducer(buffers);
  const consumer = new RingConsumer(buffers);
  producer.tryPush(RECORD);
  producer.tryPush(RECORD);
  consumer.drain(() => undefined, 1);
  assert.throws(() => consumer.peek(), broken("peek() follows no drain() that left records"));
});

test("a ring whose capacity is no power of two is refused", () => {
  const buffers = createRing();
  new Int32Array(buffers.memory)[RingWord.capacity] = 100;
  assert.throws(() => viewRing(buffers), broken("a ring's capacity is a power of two"));
});

test("the timer wheel takes no time that is no number", () => {
  const wheel = new TimerWheel<string>(new SteppedClock(), () => undefined);
  assert.throws(() => wheel.set("probe", monotonicTime(Number.NaN)), broken("an item is due at a time"));
  assert.equal(wheel.size, 0);
});

test("a back-off without end is refused", () => {
  assert.throws(() => backoffMs({ initialMs: Infinity }, 1), broken("a wait is finite"));
});

test("work on many items needs room for one call at least", async () => {
  await assert.rejects(
    mapAtMost(0, ["a"], () => Promise.resolve()),
    broken("at least one call may be under way"),
  );
});
