// The stall watch under virtual time: silence is a stall, a pause of the whole process is not.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { watchStalls } from "../../../src/main/threads/stall-watch.js";
import { BoardReader, BoardWriter, createBoard } from "../../../src/shared/base/queue/board.js";
import { keepStamping } from "../../../src/shared/thread/stamper.js";
import { SteppedClock } from "../../support/stepped-clock.js";

function watch() {
  const clock = new SteppedClock();
  const buffers = createBoard(["pleg"]);
  const slot = new BoardWriter(buffers, "pleg", clock);
  const board = new BoardReader(buffers, clock);
  const stalls: number[] = [];
  const state = { watching: true };
  const endStamps = keepStamping(slot, clock);
  const end = watchStalls({
    thread: "pleg",
    stallAfterMs: 1000,
    board,
    clock,
    watching: () => state.watching,
    onStall: (age) => stalls.push(age),
  });
  return { clock, stalls, state, endStamps, end, board };
}

describe("stall watch", () => {
  test("reports nothing while the thread stamps, and within 1.25 limits when it stops", () => {
    const { clock, stalls, endStamps, end } = watch();
    clock.step(10_000);
    assert.deepEqual(stalls, []);
    endStamps();
    clock.step(1000);
    assert.deepEqual(stalls, []);
    clock.step(250);
    assert.equal(stalls.length, 1);
    end();
    assert.equal(clock.pending, 0);
  });

  test("looks only while it should", () => {
    const { clock, stalls, state, endStamps } = watch();
    state.watching = false;
    endStamps();
    clock.step(10_000);
    assert.deepEqual(stalls, []);
  });

  test("does not take a pause of the whole process for a stall of the thread", () => {
    const { clock, stalls } = watch();
    clock.step(500);
    clock.freeze(60_000);
    clock.step(5000);
    assert.deepEqual(stalls, []);
  });

  test("shows lateness of the stamps as event-loop delay, and forgets it after the window", () => {
    const { clock, board } = watch();
    clock.step(1000);
    assert.equal(board.read("pleg").loopDelayMaxMicros, 0);
    clock.freeze(900);
    clock.step(0);
    assert.ok(board.read("pleg").loopDelayMaxMicros >= 250_000);
    clock.step(10_000);
    assert.equal(board.read("pleg").loopDelayMaxMicros, 0);
  });
});
