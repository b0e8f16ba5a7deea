// Conditions under which a thread's heap is made to shrink.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapRest } from "../../../src/shared/thread/heap-rest.js";

const MIB = 1024 ** 2;

/** A thread that is stamped every 0.5 s. `busy` is its share of a processor, `waits` its share of waiting. */
function thread(): {
  looks: (count: number) => void;
  state: {
    heap: number;
    left: number;
    how: string;
    busy: number;
    waits: number;
    collections: number;
    refuses: boolean;
  };
} {
  const state = { heap: 40 * MIB, left: 20 * MIB, how: "", busy: 0.02, waits: 0.001, collections: 0, refuses: false };
  let now = 1000;
  let cpuMs = 300;
  let waitMs = 20;
  const rest = new HeapRest({
    collect: (how) => {
      if (state.refuses) return false;
      state.collections++;
      state.how = how;
      state.heap = state.left;
      return true;
    },
    heapBytes: () => state.heap,
    cpuMs: () => cpuMs,
    waitMs: () => waitMs,
    now: () => now,
  });
  return {
    state,
    looks: (count) => {
      for (let i = 0; i < count; i++) {
        now += 500;
        cpuMs += 500 * state.busy;
        waitMs += 500 * state.waits;
        rest.check();
      }
    },
  };
}

test("a thread that rests for 6 s collects once, and again when its heap has grown", () => {
  const { looks, state } = thread();
  looks(11);
  assert.equal(state.collections, 0);
  looks(1);
  assert.equal(state.collections, 1);
  looks(100);
  assert.equal(state.collections, 1, "nothing came in the meantime");
  state.heap = 24 * MIB;
  looks(12);
  assert.equal(state.collections, 1, "too little to be worth it");
  state.heap = 25 * MIB;
  looks(12);
  assert.equal(state.collections, 2);
});

test("a large heap gets an ordinary collection, and another one when it has grown by a quarter", () => {
  const { looks, state } = thread();
  looks(12);
  assert.equal(state.how, "all");
  state.heap = 300 * MIB;
  state.left = 200 * MIB;
  looks(12);
  assert.deepEqual([state.how, state.collections], ["once", 2]);
  state.heap = 249 * MIB;
  looks(12);
  assert.equal(state.collections, 2);
  state.heap = 250 * MIB;
  looks(12);
  assert.equal(state.collections, 3);
});

test("a collection that could not run is made up for at the next check", () => {
  const { looks, state } = thread();
  state.refuses = true;
  looks(13);
  assert.equal(state.collections, 0);
  state.refuses = false;
  looks(1);
  assert.equal(state.collections, 1);
  looks(12);
  assert.equal(state.collections, 1);
});

test("a thread with work to do is left alone; a moment of work in six seconds is rest", () => {
  const { looks, state } = thread();
  state.busy = 0.1;
  looks(120);
  assert.equal(state.collections, 0);
  state.busy = 0.5;
  looks(2);
  state.busy = 0.01;
  looks(10);
  assert.equal(state.collections, 1);
});

test("a thread that waits for processors collects once a minute, and gives pages back when the wait is over", () => {
  const { looks, state } = thread();
  state.waits = 0.1;
  looks(119);
  assert.equal(state.collections, 0);
  looks(1);
  assert.deepEqual([state.how, state.collections], ["once", 1]);
  state.heap = 40 * MIB;
  looks(108);
  assert.equal(state.collections, 1);
  state.waits = 0.01;
  looks(12);
  assert.deepEqual([state.how, state.collections], ["all", 2]);
});
