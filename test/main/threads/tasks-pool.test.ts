// The tasks pool with real threads: results, deadlines, dying threads, signals.
// @promise Failures: At most four threads of the tasks pool hang in the kernel. Then jobs are refused by name until
//   one returns.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import {
  createTasksPool,
  TaskDeadlineError,
  TaskThreadError,
  type TasksPool,
} from "../../../src/main/threads/tasks-pool.js";
import { systemClock, type Clock } from "../../../src/shared/base/clock/clock.js";
import type { DecodeManifestJob } from "../../../src/shared/contracts/tasks.js";
import { keptLog, manifest, temporaryFolder, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const job = (text: string | Uint8Array): DecodeManifestJob => ({
  origin: { kind: "file", path: "/x" },
  text,
  nodeName: "n",
});

/** A pool whose decodeManifest does what the text says. */
async function badPool(t: TestContext, clock: Clock = systemClock): Promise<TasksPool> {
  const file = join(await temporaryFolder(t), "bad.mjs");
  await writeFile(
    file,
    `export function decodeManifest({ text }) {
       if (text === "hang") for (;;);
       if (text === "throw") throw new TypeError("no");
       if (text === "exit") process.exit(3);
       if (text === "heap") { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)); }
       return { pods: [], warnings: [] };
     }`,
  );
  const pool = createTasksPool({ heapMiB: 32, log: keptLog().log, clock, entry: pathToFileURL(file) });
  t.after(() => pool.close());
  return pool;
}

test("runs the real functions; large bytes are moved, small ones copied", async (t) => {
  const pool = createTasksPool({ heapMiB: 128, log: keptLog().log, clock: systemClock });
  t.after(() => pool.close());
  const small = await pool.run("decodeManifest", job(manifest("a")), { deadlineMs: 60_000 });
  assert.equal(small.pods[0]?.metadata.name, "a-n");
  const text = manifest("b") + "# x\n".repeat(30_000);
  const bytes = new Uint8Array(Buffer.byteLength(text));
  bytes.set(Buffer.from(text));
  assert.equal((await pool.run("decodeManifest", job(bytes), { deadlineMs: 60_000 })).pods.length, 1);
  assert.equal(bytes.byteLength, 0, "moved");
  const few = new Uint8Array(Buffer.from(manifest("c")));
  await pool.run("decodeManifest", job(few), { deadlineMs: 60_000 });
  assert.notEqual(few.byteLength, 0, "copied");
  assert.equal(pool.stats().completed, 3);
});

test("a hanging job meets its deadline and the next one runs", async (t) => {
  const pool = await badPool(t);
  const hang = [1, 2, 3].map(() => pool.run("decodeManifest", job("hang"), { deadlineMs: 300 }));
  for (const settled of await Promise.allSettled(hang)) {
    assert.ok(settled.status === "rejected" && settled.reason instanceof TaskDeadlineError);
  }
  await pool.run("decodeManifest", job("fine"), { deadlineMs: 60_000 });
  assert.equal(pool.stats().deadlines, 3);
});

test("threads that hang in the kernel are bounded; further jobs are refused by name until the kernel lets go", async (t) => {
  const directory = await temporaryFolder(t);
  const [file, fifo] = [join(directory, "stuck.mjs"), join(directory, "fifo")];
  execFileSync("mkfifo", [fifo]);
  // Nothing but a writer wakes a thread from this open(2).
  await writeFile(
    file,
    `import { closeSync, openSync } from "node:fs";
     export function decodeManifest({ text }) {
       if (text === "stick") closeSync(openSync(${JSON.stringify(fifo)}, "r"));
       return { pods: [], warnings: [] };
     }`,
  );
  const pool = createTasksPool({ heapMiB: 32, log: keptLog().log, clock: systemClock, entry: pathToFileURL(file) });
  t.after(() => pool.close());
  // A thread that had not come to its job before the deadline ends at once.
  while (pool.stats().stuck < 4) {
    await assert.rejects(pool.run("decodeManifest", job("stick"), { deadlineMs: 500 }), TaskDeadlineError);
  }
  await assert.rejects(pool.run("decodeManifest", job("fine"), { deadlineMs: 60_000 }), {
    name: "TasksPoolExhaustedError",
  });
  const writer = await open(fifo, "w");
  t.after(() => writer.close());
  await until("the threads to end", () => pool.stats().stuck === 0);
  await pool.run("decodeManifest", job("fine"), { deadlineMs: 60_000 });
});

test("a thread that exits or runs out of heap fails its job only", async (t) => {
  const pool = await badPool(t);
  for (const how of ["exit", "heap"]) {
    await assert.rejects(pool.run("decodeManifest", job(how), { deadlineMs: 120_000 }), TaskThreadError, how);
    await pool.run("decodeManifest", job("fine"), { deadlineMs: 60_000 });
  }
  assert.equal(pool.stats().threadFailures, 2);
});

test("the function's own error and the caller's signal come through", async (t) => {
  const pool = await badPool(t);
  await assert.rejects(pool.run("decodeManifest", job("throw"), { deadlineMs: 60_000 }), TypeError);
  const abort = new AbortController();
  const pending = pool.run("decodeManifest", job("hang"), { deadlineMs: 60_000, signal: abort.signal });
  abort.abort(new Error("enough"));
  await assert.rejects(pending, /enough/);
});

test("time in the queue does not count; a waiter leaves with its signal; closing rejects the rest", async (t) => {
  const clock = new SteppedClock();
  const pool = await badPool(t, clock);
  const hang = (): Promise<unknown> => pool.run("decodeManifest", job("hang"), { deadlineMs: 400 });
  const hanging = Promise.allSettled([hang(), hang()]);
  const abort = new AbortController();
  const leaver = pool.run("decodeManifest", job("fine"), { deadlineMs: 400, signal: abort.signal });
  const waiter = pool.run("decodeManifest", job("fine"), { deadlineMs: 390 });
  assert.equal(pool.stats().queued, 2);
  await until("both threads are taken", () => clock.pending === 2);
  abort.abort(new Error("leaving"));
  await assert.rejects(leaver, /leaving/);
  // Ends those that hang. The waiter's own deadline has only begun, however slowly its thread starts.
  clock.step(400);
  assert.deepEqual(await waiter, { pods: [], warnings: [] });
  await hanging;
  const blocked = Promise.allSettled([hang(), hang(), hang()]);
  await pool.close();
  for (const settled of await blocked) assert.equal(settled.status, "rejected");
  await assert.rejects(hang(), TaskThreadError);
});

test("a pool that keeps no thread has its first one at once, loses it when idle, and runs the next job all the same", async (t) => {
  const parts = { heapMiB: 64, log: keptLog().log, clock: systemClock };
  const pool = createTasksPool({ ...parts, minThreads: 0, idleMs: 50 });
  t.after(() => pool.close());
  assert.equal(pool.stats().threads, 1);
  await until("the thread to end", () => pool.stats().threads === 0);
  const { pods } = await pool.run("decodeManifest", job(manifest("a")), { deadlineMs: 60_000 });
  assert.equal(pods[0]?.metadata.name, "a-n");
});
