import { equal, rejects } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { flockHolder } from "../../../../src/shared/io/os/flock-holder.js";
import { tryFlock, waitForFlock } from "../../../../src/shared/io/os/flock.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const FLOCK_RETRY_MS = 100;

const scratch = await mkdtemp(join(tmpdir(), "nodelet-flock-"));
after(() => rm(scratch, { recursive: true }));
const path = join(scratch, "lock");
await writeFile(path, "text");

describe("flock", { timeout: 120_000 }, () => {
  test("one open file at a time; the wait ends with the holder's close", async () => {
    const clock = new SteppedClock();
    const signal = new AbortController().signal;
    const [first, second] = [await open(path), await open(path)];
    equal(tryFlock(first.fd, path), true);
    equal(tryFlock(second.fd, path), false);
    const ino = (await first.stat()).ino;
    equal(flockHolder(await readFile("/proc/locks", "utf8"), ino), process.pid);
    const locked = waitForFlock(second.fd, path, { clock, signal });
    clock.step(FLOCK_RETRY_MS);
    await nextTurn();
    equal(clock.pending, 1, "tried again, and sleeps again");
    await first.close();
    clock.step(FLOCK_RETRY_MS);
    await locked;
    await second.close();
    equal(clock.pending, 0);
  });

  test("an aborted wait ends with the reason and leaves no timer", async () => {
    const clock = new SteppedClock();
    const abort = new AbortController();
    const [first, second] = [await open(path), await open(path)];
    tryFlock(first.fd, path);
    const locked = waitForFlock(second.fd, path, { clock, signal: abort.signal });
    abort.abort(new Error("stopped by SIGTERM"));
    await rejects(locked, /stopped by SIGTERM/);
    equal(clock.pending, 0);
    await Promise.all([first.close(), second.close()]);
  });

  test("neither the wait nor inotify holds a thread of libuv's pool", async () => {
    const script = fileURLToPath(new URL("./fixtures/one-pool-thread.js", import.meta.url));
    const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
    const { stdout } = await promisify(execFile)(process.execPath, [script, path], { env, timeout: 60_000 });
    equal(stdout, "text");
  });
});

describe("holder of a lock in /proc/locks", () => {
  const locks =
    "1: POSIX  ADVISORY  WRITE 10 fe:01:77 0 EOF\n" +
    "2: FLOCK  ADVISORY  WRITE 0 fe:01:78 0 EOF\n" +
    "3: FLOCK  ADVISORY  WRITE 12 fe:01:79 0 EOF\n" +
    "3: -> FLOCK  ADVISORY  WRITE 13 fe:01:79 0 EOF\n";
  const table: [number, number | undefined][] = [
    [77, undefined],
    [78, undefined],
    [79, 12],
    [7, undefined],
  ];
  for (const [inode, pid] of table) test(`inode ${inode}`, () => equal(flockHolder(locks, inode), pid));
});
