// CPU time of the calling thread, which other threads, processes and a busy machine do not add to.
// V8 optimizes no code while it measures, as in a kubelet at rest: a loop of JavaScript over each character takes ten
// times as long.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setRestFlags } from "../../src/shared/io/code/v8-flags.js";

/** The kernel updates the figure at each of its ticks, so it is at most a few milliseconds old. */
function threadCpuMs(): number {
  const [nanos = ""] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  return Number(nanos) / 1e6;
}

function cpuMs(work: () => unknown): number {
  const before = threadCpuMs();
  work();
  return threadCpuMs() - before;
}

/**
 * Plain work over a megabyte, of V8's own loops and of one in JavaScript that is not optimized, each with its
 * milliseconds on the machine for which bounds are written.
 */
const PLAIN_WORK: readonly { ms: number; work: (text: string) => unknown }[] = [
  { ms: 2, work: (text) => text.indexOf("bb") },
  { ms: 4, work: (text) => text.split("a").join("") },
  { ms: 16, work: countQuotes },
];
const TEXT = "ab".repeat(512 * 1024);

function countQuotes(text: string): number {
  let quotes = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 0x22) quotes++;
  return quotes;
}

/**
 * Present slowness of this machine as a factor of that machine, at least 1. A busy machine shares its caches and its
 * clock rate. One that has given its memory back to its host pays for each new page, so the slowest kind of plain work
 * counts.
 */
function slowness(): number {
  const factors = PLAIN_WORK.map(({ ms, work }) => {
    const costs = Array.from({ length: 20 }, () => cpuMs(() => work(TEXT)));
    return Math.min(...costs) / ms;
  });
  return Math.max(1, ...factors);
}

/** Milliseconds for which a slowness that was measured counts. */
const RECENT_MS = 10_000;
let lastSlowness = { at: -Infinity, factor: 1 };

function recentSlowness(): number {
  const now = performance.now();
  if (now - lastSlowness.at > RECENT_MS) lastSlowness = { at: now, factor: slowness() };
  return lastSlowness.factor;
}

/** CPU milliseconds that the runs of one check may take together. Super-linear work takes as long in its first run. */
const BUDGET_MS = 3000;
const LEAST_RUNS = 3;

/**
 * Fails when no run of `work` takes less than `boundMs` of the thread's CPU time; returns the least. Linear work is
 * quick at least once in many runs. Compiler, garbage collector and machine cause the rest of a run's time.
 * Super-linear work never is. On a machine whose plain work takes longer, the bound is as many times longer.
 *
 * @param isOptimized V8 optimizes code, as for objects that `noteWork` announces (shared/base/turns/large-work.ts)
 */
export function assertCpuBelow(boundMs: number, work: () => unknown, what = "the work", isOptimized = false): number {
  setRestFlags(!isOptimized);
  try {
    return measure(boundMs, work, what);
  } finally {
    setRestFlags(false);
  }
}

function measure(boundMs: number, work: () => unknown, what: string): number {
  let least = Infinity;
  let spent = 0;
  let allowed = boundMs;
  for (let run = 1; least >= allowed && (run <= LEAST_RUNS || spent < BUDGET_MS); run++) {
    const ms = cpuMs(work);
    spent += ms;
    least = Math.min(least, ms);
    // A slow machine must not take the whole budget for each check.
    if (least >= allowed && run === LEAST_RUNS) allowed = boundMs * recentSlowness();
  }
  if (least >= allowed) allowed = boundMs * slowness();
  assert.ok(least < allowed, `${what}: ${least} ms of CPU time, and ${allowed} ms are allowed`);
  return least;
}
