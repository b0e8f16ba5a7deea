// A thread is one row of src/main/threads/thread-table.ts. Its folder, its place in the documents and its limits follow
// from the name.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WATCHDOG_LIMITS } from "../../../src/main/process/systemd/systemd.js";
import { THREADS } from "../../../src/main/threads/thread-context.js";
import { rowOf, WORKERS } from "../../../src/main/threads/thread-table.js";

const ROOT = join(import.meta.dirname, "../../../..");
/** Started in ways of their own: src/main/threads/log-thread.ts and src/main/threads/tasks-pool.ts. */
const UNSUPERVISED = ["log", "tasks"];

function folderOf(name: (typeof WORKERS)[number]): string {
  return rowOf(name).folder ?? name;
}

test("every folder of src/workers with an entry has a row, and every row has its folder", () => {
  const workers = join(ROOT, "src/workers");
  const folders = readdirSync(workers).filter((folder) => existsSync(join(workers, folder, "index.ts")));
  const ofRows = new Set(WORKERS.map(folderOf));
  assert.deepEqual(folders.sort(), [...ofRows, ...UNSUPERVISED].sort());
});

for (const name of WORKERS) {
  test(`the entry of ${name} runs under the name of its row`, () => {
    const entry = readFileSync(join(ROOT, "src/workers", folderOf(name), "index.ts"), "utf8");
    assert.match(entry, new RegExp(String.raw`\brunWorker<[^(]*>\((\[[^\]]*)?"${name}"`));
  });

  test(`${name} has a row in the thread tables of ARCHITECTURE.md, docs/threads.md and ADR 0040`, () => {
    for (const page of ["ARCHITECTURE.md", "docs/threads.md"])
      assert.match(readFileSync(join(ROOT, page), "utf8"), new RegExp(String.raw`^\| ${name} \|`, "m"));
    assert.match(
      readFileSync(join(ROOT, "docs/adr/0040-blast-radius.md"), "utf8"),
      new RegExp(String.raw`\b${name}\b`),
    );
  });

  test(`${name}: systemd's watchdog leaves the supervisor time to notice a stall and to restart the thread`, () => {
    assert.ok(rowOf(name).watchdogMs > 20_000);
    assert.equal(WATCHDOG_LIMITS[name], rowOf(name).watchdogMs);
  });
}

test("the board has a slot for main and for each row, in the order of the table", () => {
  assert.deepEqual(THREADS, ["main", ...WORKERS]);
  assert.deepEqual(Object.keys(WATCHDOG_LIMITS), THREADS);
});
