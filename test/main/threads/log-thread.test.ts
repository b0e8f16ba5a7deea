// The real log thread on a file. Many threads write through it, it dies and comes back, and nothing is lost or mixed.

import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { Worker } from "node:worker_threads";
import { LogThread, type LogThreadOptions } from "../../../src/main/threads/log-thread.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import { createLogger, droppedLines, loggingFor, type Logger } from "../../../src/shared/telemetry/log/logger.js";
import { DEFAULT_LOGGING } from "../../../src/shared/telemetry/log/logging-config.js";
import { temporaryFolder } from "../../support/sources-kit.js";
import type { ChatterJob } from "./fixtures/log-chatter.js";

const PATIENCE_MS = 20_000;

async function start(t: TestContext, more: Partial<LogThreadOptions> = {}) {
  const file = join(await temporaryFolder(t), "log");
  const fd = openSync(file, "a");
  const exits: string[] = [];
  const thread = new LogThread({
    config: { ...DEFAULT_LOGGING, format: "json" },
    journal: false,
    clock: systemClock,
    errFd: fd,
    onExit: (reason) => exits.push(reason),
    ...more,
  });
  t.after(async () => {
    await thread.stop();
    closeSync(fd);
  });
  const log = createLogger({ thread: "main", logging: thread.forThread("main"), threadLogs: thread });
  const lines = async (): Promise<Record<string, unknown>[]> =>
    (await readFile(file, "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { thread, log, lines, exits };
}

/** Numbers that a thread logged, in the order of the file. */
const numbersOf = (lines: Record<string, unknown>[], thread: string): unknown[] =>
  lines.filter((line) => line["thread"] === thread && "n" in line).map((line) => line["n"]);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

function chatter(log: Logger, name: string, count: number): Promise<void> {
  const workerData: ChatterJob = { name, count, logging: loggingFor(log, name) };
  const worker = new Worker(new URL("./fixtures/log-chatter.js", import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
}

describe("log thread", () => {
  test("lines of all threads arrive whole and in order, those from before its start too", async (t) => {
    const { thread, log, lines } = await start(t);
    for (const n of upTo(100)) log.info({ n }, "early");
    thread.start();
    await Promise.all(["a", "b", "c"].map((name) => chatter(log, name, 1000)));
    assert.ok(await thread.flush(PATIENCE_MS));
    // Each line parses: no two were mixed.
    const read = await lines();
    assert.deepEqual(numbersOf(read, "main"), upTo(100));
    for (const name of ["a", "b", "c"]) assert.deepEqual(numbersOf(read, name), upTo(1000), name);
  });

  test("killed, it is started again and writes the lines logged meanwhile", async (t) => {
    const { thread, log, lines, exits } = await start(t);
    thread.start();
    log.info({ n: 0 }, "before");
    assert.ok(await thread.flush(PATIENCE_MS));
    for (const round of [1, 2, 3]) {
      await thread.terminate();
      log.info({ n: round }, "while it is away");
      assert.ok(await thread.flush(PATIENCE_MS), `round ${round}`);
      assert.equal(thread.restarts, round);
    }
    assert.equal(exits.length, 3);
    assert.deepEqual(numbersOf(await lines(), "main"), [0, 1, 2, 3]);
  });

  test("flushNow starts a log thread that has not started, and waits for it", async (t) => {
    const { thread, log, lines } = await start(t);
    log.fatal({ n: 0 }, "last words");
    assert.ok(thread.flushNow(PATIENCE_MS));
    assert.deepEqual(numbersOf(await lines(), "main"), [0]);
  });

  test("flushNow writes the waiting lines itself after the log thread has died", async (t) => {
    const { thread, log, lines } = await start(t);
    thread.start();
    await thread.terminate();
    log.fatal({ n: 0 }, "last words");
    assert.ok(thread.flushNow(100));
    assert.deepEqual(numbersOf(await lines(), "main"), [0]);
  });

  test("flushNow blocks until the log thread has written", async (t) => {
    const { thread, log, lines } = await start(t);
    thread.start();
    for (const n of upTo(500)) log.info({ n }, "burst");
    assert.ok(thread.flushNow(PATIENCE_MS));
    assert.deepEqual(numbersOf(await lines(), "main"), upTo(500));
  });

  test("losses are counted by thread", async (t) => {
    const { log } = await start(t, { ringBytes: 4096 });
    for (const n of upTo(100)) log.info({ n }, "nobody reads");
    loggingFor(log, "pleg");
    const dropped = droppedLines(log);
    assert.ok((dropped.get("main") ?? 0) > 0);
    assert.equal(dropped.get("pleg"), 0);
  });
});
