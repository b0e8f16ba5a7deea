import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { promisify } from "node:util";
import { raisePriority } from "../../../../src/main/process/unix/process-limits.js";

const MODULE = new URL("../../../../src/main/process/unix/process-limits.js", import.meta.url).href;
/**
 * Prints the niceness of each thread, of V8's and libuv's pools too. Field 19 of /proc/<pid>/stat: proc_pid_stat(5).
 */
const PROGRAM = `
  import { readdir, readFile } from "node:fs/promises";
  import { raisePriority } from ${JSON.stringify(MODULE)};
  await readdir("/proc/self");
  const set = raisePriority(3, { info: console.error });
  const threads = await readdir("/proc/self/task");
  const stats = await Promise.all(threads.map((thread) => readFile("/proc/self/task/" + thread + "/stat", "utf8")));
  const niceness = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]));
  console.log(JSON.stringify({ set, niceness }));
`;

test("the niceness is set for every thread of the process, also for those older than the kubelet's code", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROGRAM]);
  const { set, niceness } = JSON.parse(stdout) as { set: boolean; niceness: number[] };
  assert.equal(set, true);
  assert.ok(niceness.length > 5, `${niceness.length} threads`);
  assert.deepEqual([...new Set(niceness)], [3]);
});

test("a niceness that the kernel refuses is logged", () => {
  const logged: string[] = [];
  assert.equal(
    raisePriority(Number.NaN, { info: (_fields: unknown, text?: string) => void logged.push(text ?? "") }),
    false,
  );
  assert.match(logged[0] ?? "", /cannot set the kubelet's niceness/);
});

/** Prints the niceness of the session, "/autogroup-<number> nice <niceness>", before and after. sched(7). */
const SESSION_PROGRAM = `
  import { readFileSync } from "node:fs";
  import { raisePriority } from ${JSON.stringify(MODULE)};
  const nice = () => Number(readFileSync("/proc/self/autogroup", "utf8").split(" ").at(-1));
  const before = nice();
  raisePriority(3, { info: console.error });
  console.log(JSON.stringify({ before, after: nice() }));
`;

// The kernel lets others than root write the file ten times a second, all of them together.
const skip =
  existsSync("/proc/self/autogroup") && process.getuid?.() === 0 ? false : "needs a kernel with autogroups, and root";

for (const detached of [true, false]) {
  const what = detached ? "is set for the session that it leads" : "is not set for the session of its parent";
  test(`the kubelet's niceness ${what}`, { skip }, async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", SESSION_PROGRAM], {
      detached,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
    const { before, after } = JSON.parse(output) as { before: number; after: number };
    assert.equal(after, detached ? 3 : before);
  });
}
