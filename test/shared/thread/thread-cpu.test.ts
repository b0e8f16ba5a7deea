// Times of a thread as its file of the kernel has them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { threadCpu, threadWait } from "../../../src/shared/thread/thread-cpu.js";

/** Processor time and time of waiting, ms. */
function ofKernel(): number[] {
  return readFileSync("/proc/thread-self/schedstat", "utf8")
    .split(" ")
    .slice(0, 2)
    .map((nanos) => Number(nanos) / 1e6);
}

test("a thread's processor time and its wait for a processor are the two fields of the kernel", () => {
  for (const [field, read] of [threadCpu(() => -1), threadWait()].entries()) {
    const before = ofKernel()[field] ?? NaN;
    const value = read();
    const after = ofKernel()[field] ?? NaN;
    assert.ok(before <= value && value <= after, `field ${field}: ${before}, ${value}, ${after}`);
  }
});
