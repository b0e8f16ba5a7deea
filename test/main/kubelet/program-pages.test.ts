// Pages of the program go back to the kernel while the kubelet is at rest.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { startProgramPages } from "../../../src/main/kubelet/program-pages.js";
import { keptLog } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const MIB = 1024 ** 2;

function world() {
  const state = { cpu: 0, resident: 56 * MIB, released: 0, failing: false };
  const clock = new SteppedClock();
  const kept = keptLog();
  const pages = startProgramPages({
    clock,
    log: kept.log,
    cpuMs: () => state.cpu,
    ranges: () => Promise.resolve([{ start: 4096, length: 4096 }]),
    resident: () => Promise.resolve(state.resident),
    release: () => {
      if (state.failing) return Promise.reject(new Error("madvise: EINVAL"));
      state.released++;
      state.resident = 20 * MIB;
      return Promise.resolve();
    },
  });
  return {
    state,
    clock,
    kept,
    pages,
    period: async (share: number) => {
      state.cpu += 30_000 * share;
      clock.step(30_000);
      for (let turn = 0; turn < 10; turn++) await setImmediate();
    },
  };
}

test("they are given back at the first rest, and again when work has mapped many of them", async () => {
  const { state, clock, pages, period } = world();
  await period(0.5);
  assert.equal(state.released, 0, "the kubelet works");
  await period(0.02);
  assert.equal(state.released, 1);
  state.resident = 27 * MIB;
  await period(0.02);
  assert.equal(state.released, 1, "too few to be worth it");
  state.resident = 40 * MIB;
  await period(0.2);
  assert.equal(state.released, 1, "the kubelet works");
  await period(0.02);
  assert.equal(state.released, 2);
  await pages.stop();
  assert.equal(clock.pending, 0);
});

test("where the kernel refuses it, one log line says so, and nothing is tried again", async () => {
  const { state, clock, kept, period } = world();
  state.failing = true;
  await period(0);
  await period(0);
  assert.equal(clock.pending, 0);
  assert.equal(kept.lines.filter((line) => JSON.stringify(line).includes("madvise: EINVAL")).length, 1);
});
