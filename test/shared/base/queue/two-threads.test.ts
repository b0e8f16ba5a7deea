// The queue between two real threads: every record whole and in order, also when the producer is killed in mid-stream.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { bytesCodec } from "../../../../src/shared/base/queue/codec.js";
import { QueueReader } from "../../../../src/shared/base/queue/queue-reader.js";
import { createRing, RingConsumer } from "../../../../src/shared/base/queue/ring.js";
import { verify } from "./fixtures/checksummed.js";
import type { Job } from "./fixtures/thread.js";

const startThread = (job: Job): Worker =>
  new Worker(new URL("./fixtures/thread.js", import.meta.url), { workerData: job });

describe("queue between two threads", () => {
  for (const [records, maxBytes, capacityBytes] of [
    [200_000, 60, 4096],
    [5_000, 4000, 4096],
    [60, 1_000_000, 1_048_576],
  ] as const) {
    test(`${records} records of up to ${maxBytes} bytes through a ring of ${capacityBytes}`, async () => {
      const ring = createRing({ capacityBytes });
      const worker = startThread({ kind: "produce", ring, records, maxBytes });
      const exited = new Promise((resolve) => worker.once("exit", resolve));
      let next = 0;
      const done = new Promise<void>((resolve, reject) => {
        worker.once("error", reject);
        const reader = new QueueReader(
          new RingConsumer(ring),
          bytesCodec,
          (bytes) => {
            const index = verify(bytes);
            if (index !== next) throw new Error(`record ${next} arrived as ${index ?? "garbage"}`);
            if (++next === records) resolve();
          },
          (error) => {
            reader.stop();
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
        reader.start();
      });
      await done;
      await exited;
      assert.equal(next, records);
    });
  }

  test("a producer killed in mid-stream leaves whole records only", async () => {
    for (let round = 0; round < 10; round++) {
      const ring = createRing({ capacityBytes: 16_384 });
      const consumer = new RingConsumer(ring);
      const worker = startThread({ kind: "produce", ring, records: 1e9, maxBytes: 3000 });
      let failure: unknown;
      worker.once("error", (error) => (failure = error));
      let next = 0;
      const take = (): void => {
        // Bounded: against a live producer an unbounded drain may never find the ring empty.
        consumer.drain((bytes) => assert.equal(verify(bytes), next++), 50);
      };
      while (next < 50 + round * 37) {
        if (failure !== undefined) throw failure as Error;
        take();
        await new Promise((resolve) => setImmediate(resolve));
      }
      const gone = worker.terminate();
      take();
      await gone;
      while (consumer.depth > 0) take();
      assert.equal(consumer.depth, 0);
    }
  });
});
