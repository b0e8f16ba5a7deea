// malloc's free memory goes back to the kernel periodically.

import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { startMemoryRelease } from "../../../src/main/kubelet/memory-release.js";
import { silentLog } from "../../support/silent.js";
import { SteppedClock } from "../../support/stepped-clock.js";

test("every 30 s until the stop, which leaves no timer", async () => {
  const clock = new SteppedClock();
  const times: number[] = [];
  const release = (): Promise<void> => {
    times.push(clock.now());
    return Promise.resolve();
  };
  const memory = startMemoryRelease({ clock, log: silentLog, release });
  for (let second = 0; second < 95; second++) {
    clock.step(1000);
    await setImmediate();
  }
  deepEqual(times, [30_000, 60_000, 90_000]);
  await memory.stop();
  equal(clock.pending, 0);
});

test("a C library without malloc_trim: one log line, no further call", async () => {
  const clock = new SteppedClock();
  const lines: string[] = [];
  let calls = 0;
  const release = (): Promise<void> => {
    calls++;
    return Promise.reject(new Error("malloc_trim: not found"));
  };
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const memory = startMemoryRelease({ clock, log, release });
  for (let minute = 0; minute < 3; minute++) {
    clock.step(60_000);
    await setImmediate();
  }
  equal(calls, 1);
  equal(lines.length, 1);
  match(lines[0] ?? "", /cannot return free memory to the kernel: malloc_trim: not found/);
  await memory.stop();
});
