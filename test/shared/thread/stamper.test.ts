// Conditions under which a thread's heap is made to shrink.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapRest } from "../../../src/shared/thread/heap-rest.js";

const MIB = 1024 ** 2;

function thread(): {
  rest: HeapRest;
  looks: (count: number) => void;
  state: { heap: number; busy: number; collections: number; refuses: boolean };
} {
  const state = { heap: 40 * MIB, busy: 0.02, collections: 0, refuses: false };
  const rest = new HeapRest({
    collect: () => {
      if (state.refuses) return false;
      state.collections++;
      state.heap = 20 * MIB;
      return true;
    },
    heapBytes: () => state.heap,
    utilization: () => state.busy,
  });
  return {
    rest,
    state,
    looks: (count) => {
      for (let i = 0; i < count; i++) rest.look();
    },
  };
}

test("a thread that rests for 6 s collects twice in a row, and again when its heap has grown", () => {
  const { looks, state } = thread();
  looks(11);
  assert.equal(state.collections, 0);
  looks(1);
  assert.equal(state.collections, 1);
  looks(1);
  assert.equal(state.collections, 2);
  looks(100);
  assert.equal(state.collections, 2, "nothing came in the meantime");
  state.heap = 24 * MIB;
  looks(12);
  assert.equal(state.collections, 2, "too little to be worth it");
  state.heap = 25 * MIB;
  looks(13);
  assert.equal(state.collections, 4);
});

test("a collection that could not run is made up for at the next check, the first and the second", () => {
  const { looks, state } = thread();
  state.refuses = true;
  looks(13);
  assert.equal(state.collections, 0);
  state.refuses = false;
  looks(1);
  assert.equal(state.collections, 1);
  state.refuses = true;
  looks(3);
  assert.equal(state.collections, 1);
  state.refuses = false;
  looks(1);
  assert.equal(state.collections, 2);
  looks(12);
  assert.equal(state.collections, 2, "both were made");
});

test("work between the two puts the second off until the thread rests again", () => {
  const { looks, state } = thread();
  looks(12);
  state.busy = 0.5;
  looks(5);
  assert.equal(state.collections, 1);
  state.busy = 0;
  looks(11);
  assert.equal(state.collections, 1);
  looks(1);
  assert.equal(state.collections, 2);
});

test("a thread with work to do is left alone", () => {
  const { looks, state } = thread();
  for (let i = 0; i < 10; i++) {
    looks(11);
    state.busy = 0.1;
    looks(1);
    state.busy = 0.02;
  }
  assert.equal(state.collections, 0);
});
