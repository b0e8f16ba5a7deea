// The ring against a model: any interleaving of pushes and drains, any sizes, many times around the end.
// @promise Failures: A record is never read partially: ring against a model, two threads with checksums, producer
//   killed during a write.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { RingClosedError, RingCorruptError } from "../../../../src/shared/base/queue/errors.js";
import { LAYOUT_VERSION, RING_HEADER_BYTES, RingWord } from "../../../../src/shared/base/queue/layout.js";
import { QueueError } from "../../../../src/shared/base/queue/queue-error.js";
import { framedBytes } from "../../../../src/shared/base/queue/ring-view.js";
import { createRing, RingConsumer, RingProducer } from "../../../../src/shared/base/queue/ring.js";

const record = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, i) => seed * 31 + i * 7);

function pair(capacityBytes: number): { producer: RingProducer; consumer: RingConsumer; header: Int32Array } {
  const buffers = createRing({ capacityBytes });
  return {
    producer: new RingProducer(buffers),
    consumer: new RingConsumer(buffers),
    header: new Int32Array(buffers.memory),
  };
}

describe("ring", () => {
  test("behaves like a bounded list of records under random interleavings", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("push" as const), size: fc.oneof(fc.nat(20), fc.nat(260)) }),
      fc.record({ kind: fc.constant("drain" as const), max: fc.nat(6) }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(64, 128, 256),
        fc.array(step, { maxLength: 200 }),
        fc.integer({ min: -0x80000000, max: 0x7fffffff }),
        (capacity, steps, origin) => {
          const buffers = createRing({ capacityBytes: capacity });
          const words = new Int32Array(buffers.memory);
          // Start anywhere in the 2^32 positions, so that their wrap-around is covered too.
          words[RingWord.head] = words[RingWord.tail] = origin & ~3;
          const producer = new RingProducer(buffers);
          const consumer = new RingConsumer(buffers);
          const model: Uint8Array[] = [];
          let inRing = 0;
          let seed = 0;
          for (const action of steps) {
            if (action.kind === "push") {
              const bytes = record(action.size, seed++);
              if (bytes.length > capacity - 4) {
                assert.throws(() => producer.tryPush(bytes), QueueError);
                continue;
              }
              inRing = producer.usedBytes;
              const pushed = producer.tryPush(bytes);
              assert.equal(pushed, inRing + framedBytes(bytes.length) <= capacity);
              if (pushed) model.push(bytes);
            } else {
              const got: Uint8Array[] = [];
              const count = consumer.drain((bytes) => got.push(bytes), action.max);
              assert.equal(count, Math.min(action.max, model.length));
              assert.deepEqual(got, model.splice(0, count));
            }
            assert.equal(consumer.depth === 0, model.length === 0);
          }
          const rest: Uint8Array[] = [];
          consumer.drain((bytes) => rest.push(bytes));
          assert.deepEqual(rest, model);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("a large ring that is drained often uses only its start", () => {
    const { producer, consumer } = pair(8 * 1024 * 1024);
    const data = new Uint8Array(producer.buffers.memory, RING_HEADER_BYTES);
    for (let i = 0; i < 5_000; i++) {
      const sent = [record(3_000 + (i % 1_000), i + 1), record(i % 50, i)];
      for (const one of sent) assert.ok(producer.tryPush(one));
      const got: Uint8Array[] = [];
      consumer.drain((bytes) => got.push(bytes));
      assert.deepEqual(got, sent);
    }
    const used = data.findLastIndex((byte) => byte !== 0);
    assert.ok(used < 128 * 1024, `${used} bytes of the ring were written`);
  });

  test("another producer and another consumer go on where a ring was rewound", () => {
    const { producer, consumer } = pair(256);
    const through = (from: RingProducer, to: RingConsumer): void => {
      for (let i = 0; i < 20; i++) {
        assert.ok(from.tryPush(record(20, i)));
        assert.equal(
          to.drain((bytes) => assert.deepEqual(bytes, record(20, i))),
          1,
        );
      }
    };
    through(producer, consumer);
    assert.ok(producer.tryPush(record(30, 7)));
    const next = new RingConsumer(producer.buffers);
    assert.deepEqual(next.peek(), [record(30, 7)]);
    next.takePeeked();
    through(new RingProducer(producer.buffers), next);
  });

  test("holds an empty record, one that fills it, and refuses one byte more", () => {
    const { producer, consumer } = pair(64);
    for (const size of [0, 60]) {
      assert.equal(producer.tryPush(record(size, 1)), true);
      assert.equal(
        consumer.drain((bytes) => assert.deepEqual(bytes, record(size, 1))),
        1,
      );
    }
    assert.throws(() => producer.tryPush(record(61, 1)), QueueError);
  });

  test("carries a record of 1 MiB around the end of a default ring", () => {
    const { producer, consumer } = pair(4 * 1024 * 1024);
    const big = record(1024 * 1024, 3);
    for (let round = 0; round < 9; round++) {
      assert.equal(producer.tryPush(big), true);
      assert.equal(
        consumer.drain((bytes) => assert.equal(Buffer.compare(bytes, big), 0)),
        1,
      );
    }
  });

  test("gives records whose memory is never written again", () => {
    const { producer, consumer } = pair(64);
    const kept: Uint8Array[] = [];
    for (let i = 0; i < 50; i++) {
      producer.tryPush(record(20, i));
      consumer.drain((bytes) => kept.push(bytes));
    }
    assert.deepEqual(
      kept,
      Array.from({ length: 50 }, (_, i) => record(20, i)),
    );
    assert.ok(kept.every((bytes) => bytes.buffer instanceof ArrayBuffer));
  });

  test("continues after a record whose handler threw", () => {
    const { producer, consumer } = pair(256);
    for (let i = 0; i < 5; i++) producer.tryPush(record(4, i));
    const seen: number[] = [];
    const handle = (bytes: Uint8Array): void => {
      if (bytes[0] === record(4, 1)[0]) throw new Error("handler");
      seen.push(bytes[0]!);
    };
    assert.throws(() => consumer.drain(handle), /handler/);
    assert.equal(consumer.drain(handle), 3);
    assert.deepEqual(
      seen,
      [0, 2, 3, 4].map((i) => record(4, i)[0]),
    );
    assert.equal(consumer.depth, 0);
  });

  test("does not show a record before its tail is published", () => {
    const { consumer, header } = pair(256);
    // Leftovers of a producer killed in mid-write: a length and some bytes behind the tail.
    header[RING_HEADER_BYTES / 4] = 40;
    assert.equal(
      consumer.drain(() => assert.fail("half a record")),
      0,
    );
    assert.equal(consumer.depth, 0);
  });

  for (const [what, spoil] of [
    ["a negative length", (w: Int32Array): void => void (w[RING_HEADER_BYTES / 4] = -5)],
    ["a length past the tail", (w: Int32Array): void => void (w[RING_HEADER_BYTES / 4] = 44)],
    ["a length past the ring", (w: Int32Array): void => void (w[RING_HEADER_BYTES / 4] = 0x7fffffff)],
    ["a tail before the head", (w: Int32Array): void => void (w[RingWord.tail] = -64)],
    ["a tail inside a word", (w: Int32Array): void => void (w[RingWord.tail] = 7)],
  ] as const) {
    test(`reports ${what} as corruption, and stays broken`, () => {
      const { producer, consumer, header } = pair(256);
      producer.tryPush(record(4, 0));
      spoil(header);
      const drain = (): number => consumer.drain(() => assert.fail("garbage handed over"));
      assert.throws(drain, RingCorruptError);
      assert.throws(drain, RingCorruptError);
      assert.throws(() => producer.tryPush(record(4, 0)), RingClosedError);
    });
  }

  test("hands over the good records in front of a bad length", () => {
    const { producer, consumer, header } = pair(256);
    for (let i = 0; i < 3; i++) producer.tryPush(record(4, i));
    header[RING_HEADER_BYTES / 4 + 4] = -1;
    let count = 0;
    assert.throws(() => consumer.drain(() => count++), RingCorruptError);
    assert.equal(count, 2);
  });

  test("closing ends pushes from either side; pushed records still arrive", () => {
    const first = pair(256);
    first.producer.tryPush(record(4, 0));
    first.producer.close();
    assert.throws(() => first.producer.tryPush(record(4, 0)), RingClosedError);
    assert.equal(first.consumer.ended, false);
    assert.equal(
      first.consumer.drain(() => undefined),
      1,
    );
    assert.equal(first.consumer.ended, true);
    const second = pair(256);
    second.consumer.close();
    assert.throws(() => second.producer.tryPush(record(4, 0)), RingClosedError);
  });

  test("refuses memory of another layout", () => {
    const buffers = createRing({ capacityBytes: 64 });
    new Int32Array(buffers.memory)[RingWord.version] = LAYOUT_VERSION + 1;
    assert.throws(() => new RingConsumer(buffers), QueueError);
    assert.throws(() => new RingProducer(buffers), QueueError);
  });

  test("rounds its capacity up and refuses nonsense", () => {
    assert.equal(new RingProducer(createRing({ capacityBytes: 65 })).maxRecordBytes, 124);
    for (const capacityBytes of [0, -1, 1.5, NaN, 2 ** 31]) {
      assert.throws(() => createRing({ capacityBytes }), RangeError);
    }
  });
});
