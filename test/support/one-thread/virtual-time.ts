// Moves the clock of a test whose parts also use files and sockets of this process. Time stands still while a file is
// read or written, so that no deadline passes because the machine is slow.

import { setTimeout as realSleep } from "node:timers/promises";
import type { SteppedClock } from "../stepped-clock.js";

/** Virtual time of one step. */
const STEP_MS = 10;
/** Turns of the event loop before each step: both ends of a socket are in this process. */
const TURNS = 10;
/** Real time; then the test fails. */
const PATIENCE_MS = 120_000;

/**
 * Real time after which a request that is still there counts as one that waits for the kernel, such as a read of
 * /dev/kmsg.
 */
const WAITS_MS = 300;

/** Steps until the condition holds. Rejects with the name of the condition. */
export async function stepUntil(clock: SteppedClock, what: string, condition: () => boolean): Promise<void> {
  const files = new FileRequests();
  const end = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited ${PATIENCE_MS / 1000} s of real time for: ${what}`);
    await turns();
    if (!files.underWay()) clock.step(STEP_MS);
  }
}

/** Steps until the promise settles. */
export async function stepUntilSettled<T>(clock: SteppedClock, what: string, promise: Promise<T>): Promise<T> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  promise.then(settle, settle);
  await stepUntil(clock, what, () => settled);
  return promise;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
  // Also what the kernel and the thread pool have to do.
  await realSleep(1);
}

/** Requests to the file system, but for those that wait. */
class FileRequests {
  private waiting = 0;
  private fewest = Infinity;
  private since = performance.now();

  underWay(): boolean {
    const now = process.getActiveResourcesInfo().filter((resource) => resource.startsWith("FSReq")).length;
    this.fewest = Math.min(this.fewest, now);
    if (performance.now() - this.since >= WAITS_MS) {
      this.waiting = this.fewest;
      this.fewest = Infinity;
      this.since = performance.now();
    }
    return now > this.waiting;
  }
}
