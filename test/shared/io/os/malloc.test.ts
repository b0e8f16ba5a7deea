import { equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** musl has no such function. */
const glibc = (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime;

test(
  "free memory between allocations that live goes back to the kernel",
  { skip: glibc === undefined && "the C library is not glibc", timeout: 120_000 },
  async () => {
    const script = fileURLToPath(new URL("./fixtures/pinned-memory.js", import.meta.url));
    const env = { ...process.env, MALLOC_ARENA_MAX: "1" };
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script], { env });
    const { kept, before, after } = JSON.parse(stdout) as { kept: number; before: number; after: number };
    equal(kept, 64);
    ok(before - after > 30, `resident before ${before} MiB, after ${after} MiB`);
  },
);
