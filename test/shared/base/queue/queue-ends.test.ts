// Writer and reader: what each full-policy does, that nothing vanishes uncounted, and that lost wake-ups are repaired.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { bytesCodec, type Codec } from "../../../../src/shared/base/queue/codec.js";
import { RingClosedError, RingCorruptError } from "../../../../src/shared/base/queue/errors.js";
import { RingWord } from "../../../../src/shared/base/queue/layout.js";
import { QueueError } from "../../../../src/shared/base/queue/queue-error.js";
import { QueueReader } from "../../../../src/shared/base/queue/queue-reader.js";
import { QueueWriter, type FullPolicy } from "../../../../src/shared/base/queue/queue-writer.js";
import { createRing, RingConsumer, RingProducer } from "../../../../src/shared/base/queue/ring.js";
import { until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

interface Item {
  key: string;
  values: number[];
}
const jsonCodec: Codec<Item> = {
  encode: (item) => Buffer.from(JSON.stringify(item)),
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as Item,
};
const item = (key: string, ...values: number[]): Item => ({ key, values });
const merging: FullPolicy<Item> = {
  kind: "coalesce",
  key: (value) => value.key,
  merge: (older, newer) => item(older.key, ...older.values, ...newer.values),
};

function queue(policy: FullPolicy<Item>, capacityBytes = 64) {
  const buffers = createRing({ capacityBytes });
  const clock = new SteppedClock();
  const writer = new QueueWriter(new RingProducer(buffers), jsonCodec, policy, {
    name: "test",
    clock,
  });
  const consumer = new RingConsumer(buffers);
  const got: Item[] = [];
  const take = (max?: number): number => consumer.drain((bytes) => got.push(jsonCodec.decode(bytes)), max);
  return { buffers, clock, writer, consumer, got, take };
}

/** Lets resolved waits and the event loop run. */
const turns = async (count = 5): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe("queue writer", () => {
  test("coalesce keeps one merged record per key, at the place of the oldest", async () => {
    const { writer, got, take } = queue(merging);
    for (const [key, value] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
      ["a", 4],
      ["c", 5],
      ["c", 6],
    ] as const)
      writer.push(item(key, value));
    assert.deepEqual(writer.stats(), { pushed: 6, coalesced: 2, pending: 2, dropped: 0, full: 4 });
    await until(() => (take(), writer.stats().pending === 0));
    take();
    assert.deepEqual(got, [item("a", 1), item("b", 2), item("c", 3, 5, 6), item("a", 4)]);
    writer.close();
  });

  test("coalesce without merge keeps the newest", async () => {
    const { writer, got, take } = queue({ kind: "coalesce", key: (value) => value.key });
    for (let i = 0; i < 10; i++) writer.push(item("k", i));
    await until(() => (take(), writer.stats().pending === 0));
    take();
    assert.deepEqual(got.at(-1), item("k", 9));
    writer.close();
  });

  test("back-pressure keeps order up to its limit, then throws and counts", async () => {
    const { writer, got, take, consumer } = queue({ kind: "backpressure", limit: 2 });
    const pushes = Array.from({ length: 6 }, (_, i) => () => writer.push(item("k", i)));
    for (const push of pushes.slice(0, 4)) push();
    assert.throws(pushes[4]!, QueueError);
    assert.throws(pushes[5]!, /queue test: ring full and 2 records pending/);
    assert.deepEqual(writer.stats(), { pushed: 6, coalesced: 0, pending: 2, dropped: 2, full: 4 });
    assert.equal(consumer.dropped, 2);
    await until(() => (take(), writer.stats().pending === 0));
    take();
    assert.deepEqual(
      got,
      [0, 1, 2, 3].map((i) => item("k", i)),
    );
    writer.close();
  });

  test("every pushed record is delivered, coalesced, pending or counted as dropped, in order per key", async () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("push" as const), key: fc.constantFrom("a", "b", "c") }),
      fc.record({ kind: fc.constant("drain" as const), max: fc.nat(3) }),
    );
    const policies: FullPolicy<Item>[] = [merging, { kind: "backpressure", limit: 3 }];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...policies), fc.array(action, { maxLength: 60 }), async (policy, actions) => {
        const { writer, got, take } = queue(policy);
        const accepted = new Map<string, number[]>();
        let refused = 0;
        let value = 0;
        for (const step of actions) {
          if (step.kind === "drain") {
            take(step.max);
            await turns(1);
            continue;
          }
          try {
            writer.push(item(step.key, ++value));
            accepted.set(step.key, [...(accepted.get(step.key) ?? []), value]);
          } catch (error) {
            // A merge may grow past the ring; that is counted as dropped later.
            assert.ok(error instanceof QueueError);
            refused++;
          }
        }
        const { pending, coalesced, dropped } = writer.stats();
        assert.equal(dropped >= refused, true);
        await until(() => (take(), writer.stats().pending === 0));
        take();
        const end = writer.stats();
        assert.equal(got.length + end.coalesced + end.dropped, value, JSON.stringify({ pending, coalesced }));
        if (end.dropped === refused) {
          for (const [key, values] of accepted) {
            assert.deepEqual(
              got.filter((entry) => entry.key === key).flatMap((entry) => entry.values),
              values,
            );
          }
        }
        writer.close();
      }),
      { numRuns: 60 },
    );
  });

  test("refuses a record that can never fit, at once or after a merge, and counts it", async () => {
    const { writer, take } = queue(merging);
    assert.throws(() => writer.push(item("x".repeat(100))), QueueError);
    for (let i = 0; i < 40; i++) writer.push(item("k", 1000 + i));
    await until(() => (take(), writer.stats().pending === 0));
    assert.equal(writer.stats().dropped, 2);
    writer.close();
  });

  test("counts pending records when the consumer closes, and refuses from then on", async () => {
    const { writer, consumer } = queue({ kind: "backpressure", limit: 10 });
    for (let i = 0; i < 6; i++) writer.push(item("k", i));
    const { pending } = writer.stats();
    assert.ok(pending > 0);
    consumer.close();
    await until(() => writer.stats().pending === 0);
    assert.equal(writer.stats().dropped, pending);
    assert.throws(() => writer.push(item("k", 9)), RingClosedError);
  });

  test("notices space even when the bell is lost", () => {
    const { writer, take, clock, buffers } = queue({ kind: "backpressure", limit: 10 });
    for (let i = 0; i < 4; i++) writer.push(item("k", i));
    // The consumer finds no sleeper: its bell is lost.
    new Int32Array(buffers.memory)[RingWord.spaceWanted] = 0;
    take();
    assert.ok(writer.stats().pending > 0);
    clock.step(1100);
    assert.equal(writer.stats().pending, 0);
    writer.close();
    assert.equal(clock.pending, 0);
  });

  test("flushed() resolves whether all records were written in time", async () => {
    const { writer, take, clock } = queue({ kind: "backpressure", limit: 10 });
    assert.equal(await writer.flushed(0), true);
    for (let i = 0; i < 4; i++) writer.push(item("k", i));
    const late = writer.flushed(20);
    for (let i = 0; i < 10; i++) {
      clock.step(5);
      await turns(1);
    }
    assert.equal(await late, false);
    take();
    await until(() => writer.stats().pending === 0);
    assert.equal(await writer.flushed(20), true);
    writer.close();
  });
});

describe("queue reader", () => {
  function reading(capacityBytes = 4096) {
    const buffers = createRing({ capacityBytes });
    const clock = new SteppedClock();
    const got: Uint8Array[] = [];
    const errors: unknown[] = [];
    const producer = new RingProducer(buffers);
    const consumer = new RingConsumer(buffers);
    let onRecord = (bytes: Uint8Array): void => void got.push(bytes);
    const reader = new QueueReader(
      consumer,
      bytesCodec,
      (bytes) => onRecord(bytes),
      (error) => errors.push(error),
      { clock },
    );
    const handle = (fn: typeof onRecord): void => {
      onRecord = fn;
    };
    return { buffers, clock, got, errors, producer, consumer, reader, handle };
  }
  const byte = (value: number): Uint8Array => Uint8Array.of(value);

  test("wakes for a record that arrives while it sleeps", async () => {
    const { reader, producer, got, clock } = reading();
    reader.start();
    await turns();
    for (let i = 0; i < 3; i++) {
      producer.tryPush(byte(i));
      await until(() => got.length === i + 1);
    }
    assert.equal(reader.stats().repairedWakes, 0);
    reader.stop();
    assert.equal(clock.pending, 0);
  });

  test("repairs a lost wake-up within the re-check", async () => {
    const { reader, producer, got, clock, buffers } = reading();
    reader.start();
    await turns();
    new Int32Array(buffers.memory)[RingWord.dataWanted] = 0;
    producer.tryPush(byte(1));
    await turns(20);
    assert.equal(got.length, 0);
    clock.step(1100);
    assert.equal(got.length, 1);
    assert.equal(reader.stats().repairedWakes, 1);
    producer.tryPush(byte(2));
    await until(() => got.length === 2);
    reader.stop();
  });

  test("lets the event loop turn when its budget is used up, and still drains all", async () => {
    const { reader, producer, handle, clock } = reading(65536);
    let seen = 0;
    handle(() => {
      seen++;
      clock.step(0.1);
    });
    for (let i = 0; i < 1000; i++) producer.tryPush(byte(i));
    let turnsSeen = 0;
    reader.start();
    while (seen < 1000) {
      await turns(1);
      turnsSeen++;
    }
    assert.ok(turnsSeen >= 10, `only ${turnsSeen} turns of the loop`);
    assert.ok(reader.stats().yields >= 10);
    reader.stop();
  });

  test("lets the event loop turn after a long record that used up its budget", async () => {
    const { reader, producer, handle, clock } = reading(2 ** 20);
    let seen = 0;
    handle(() => {
      seen++;
      clock.step(20);
    });
    for (let i = 0; i < 10; i++) producer.tryPush(new Uint8Array(64 * 1024));
    reader.start();
    await until(() => seen === 10);
    assert.ok(reader.stats().yields >= 9, `only ${reader.stats().yields} turns`);
    reader.stop();
  });

  test("stops at once when a handler calls stop(), keeps the rest, and continues after start()", async () => {
    const { reader, producer, handle, got } = reading();
    handle((bytes) => {
      got.push(bytes);
      if (bytes[0] === 2) reader.stop();
    });
    for (let i = 0; i < 5; i++) producer.tryPush(byte(i));
    reader.start();
    await until(() => got.length === 3);
    await turns(20);
    assert.equal(got.length, 3);
    reader.start();
    await until(() => got.length === 5);
    reader.stop();
  });

  test("reports a record that cannot be handled and continues after it", async () => {
    const { reader, producer, handle, got, errors } = reading();
    handle((bytes) => {
      if (bytes[0] === 1) throw new Error("bad record");
      got.push(bytes);
    });
    for (let i = 0; i < 3; i++) producer.tryPush(byte(i));
    reader.start();
    await until(() => got.length === 2);
    assert.equal(errors.length, 1);
    assert.deepEqual(
      { ...reader.stats() },
      {
        received: 3,
        failed: 1,
        dropped: 0,
        yields: 0,
        repairedWakes: 0,
        depth: 0,
      },
    );
    reader.stop();
  });

  test("reports corruption once and stops, instead of looping on it", async () => {
    const { reader, producer, errors, buffers, clock } = reading();
    producer.tryPush(byte(1));
    new Int32Array(buffers.memory)[RingWord.tail] = 3;
    reader.start();
    await until(() => errors.length === 1);
    clock.step(5000);
    await turns(20);
    assert.equal(errors.length, 1);
    assert.ok(errors[0] instanceof RingCorruptError);
    assert.equal(clock.pending, 0);
  });

  test("ends by itself when the producer closed and all is read", async () => {
    const { reader, producer, got, clock } = reading();
    reader.start();
    await turns();
    producer.tryPush(byte(1));
    producer.close();
    await until(() => got.length === 1);
    await until(() => clock.pending === 0);
  });

  test("drainNow takes the last records of a stopped queue", () => {
    const { reader, producer, got } = reading();
    for (let i = 0; i < 200; i++) producer.tryPush(byte(i));
    reader.stop();
    assert.equal(reader.drainNow(), 200);
    assert.equal(got.length, 200);
  });
});
