// The board: what a thread wrote is there for all, above all when that thread is stuck.

import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { BoardReader, BoardWriter, createBoard } from "../../../../src/shared/base/queue/board.js";
import type { ThreadSnapshot } from "../../../../src/shared/base/queue/board.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import type { Job } from "./fixtures/thread.js";

const startThread = (job: Job): Worker =>
  new Worker(new URL("./fixtures/thread.js", import.meta.url), { workerData: job });

describe("thread board", () => {
  test("each stamp publishes how many records wait in the followed queue", () => {
    const clock = new SteppedClock();
    const board = createBoard(["pleg"]);
    const pleg = new BoardWriter(board, "pleg", clock);
    const reader = new BoardReader(board, clock);
    let waiting = 4;
    pleg.followQueue(() => waiting);
    pleg.stamp();
    assert.equal(reader.read("pleg").queueDepth, 4);
    waiting = 0;
    pleg.stamp();
    assert.equal(reader.read("pleg").queueDepth, 0);
  });

  test("shows each thread the words of the others, and nothing of its neighbours", () => {
    const clock = new SteppedClock();
    const board = createBoard(["main", "pleg", "server"]);
    const pleg = new BoardWriter(board, "pleg", clock);
    const reader = new BoardReader(board, clock);
    assert.equal(reader.ageMs("pleg"), Infinity);
    pleg.reset(2);
    pleg.setState("running");
    pleg.setLoopDelay(1500.4, 20);
    pleg.setQueueDepth(3);
    pleg.setOp(7);
    assert.equal(reader.read("pleg").workAgeMs, Infinity);
    pleg.setPressures(5);
    pleg.worked();
    clock.step(40);
    assert.deepEqual(reader.read("pleg"), {
      thread: "pleg",
      state: "running",
      generation: 2,
      ageMs: 40,
      loopDelayMaxMicros: 1500,
      loopDelayMeanMicros: 20,
      queueDepth: 3,
      op: 7,
      opAgeMs: 40,
      workAgeMs: 40,
      pressures: 5,
    });
    for (const neighbour of ["main", "server"]) {
      assert.equal(reader.read(neighbour).generation, 0);
      assert.equal(reader.ageMs(neighbour), Infinity);
    }
    pleg.setOp(0);
    assert.equal(reader.read("pleg").opAgeMs, 0);
    pleg.reset(3);
    assert.equal(reader.read("pleg").queueDepth, 0);
    assert.equal(reader.ageMs("pleg"), 0);
  });

  test("ages stay right when the millisecond word wraps", () => {
    for (const origin of [2 ** 31 - 20, 2 ** 32 - 20, 5 * 2 ** 32 - 20]) {
      const clock = new SteppedClock();
      clock.step(origin);
      const board = createBoard(["main"]);
      new BoardWriter(board, "main", clock).stamp();
      clock.step(50);
      assert.equal(new BoardReader(board, clock).ageMs("main"), 50);
    }
  });

  test("refuses unknown and repeated names", () => {
    assert.throws(() => new BoardWriter(createBoard(["main"]), "pleg", systemClock), { name: "InvariantError" });
    assert.throws(() => new BoardReader(createBoard(["main"]), systemClock).ageMs("pleg"), /no slot for pleg/);
    assert.throws(() => createBoard(["a", "a"]), RangeError);
  });

  test("a thread stuck in a busy loop is seen ageing by two other threads", async () => {
    const board = createBoard(["main", "spinner"]);
    const spinner = startThread({ kind: "spin-on-board", board });
    try {
      await once(spinner, "message");
      const reader = new BoardReader(board, systemClock);
      const first = reader.ageMs("spinner");
      while (reader.ageMs("spinner") < first + 30) await systemClock.sleep(5);
      const observer = startThread({ kind: "read-board", board });
      const [snapshot] = (await once(observer, "message")) as [ThreadSnapshot[]];
      const [main, stuck] = snapshot;
      assert.equal(main?.generation, 0);
      assert.ok(stuck);
      assert.ok(stuck.ageMs >= first + 30 && stuck.ageMs < 60_000, `age ${stuck.ageMs}`);
      const { state, generation, queueDepth, op } = stuck;
      assert.deepEqual(
        { state, generation, queueDepth, op },
        { state: "running", generation: 3, queueDepth: 17, op: 5 },
      );
    } finally {
      await spinner.terminate();
    }
  });
});
