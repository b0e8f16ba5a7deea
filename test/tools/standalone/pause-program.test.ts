// The real pause program. It ends on SIGTERM and SIGINT with status 0, and reaps as process 1.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { isStaticElf } from "../../../tools/standalone/packages.js";
import { pauseProgram } from "../../../tools/standalone/pause-program.js";
import { waitFor } from "../../../tools/standalone/wait.js";

const skip = process.arch === "x64" ? false : "the program is x86-64 code";
let dir = "";
let program = "";

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "pause-"));
  program = join(dir, "pause");
  await writeFile(program, pauseProgram());
  await chmod(program, 0o755);
});
after(() => rm(dir, { recursive: true, force: true }));

/** True once it waits in rt_sigtimedwait (system call 128): the signals are blocked by then and none is lost. */
async function waits(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/syscall`, "utf8")).startsWith("128 ");
}

const WAITING = { what: "the program to wait for signals", timeoutMs: 60_000 };

test("it is a static executable", { skip }, async () => {
  assert.equal(await isStaticElf(program), true);
  assert.ok(pauseProgram().length < 400);
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} ends it with status 0`, { skip }, async (t) => {
    const child = spawn(program, { stdio: "ignore" });
    t.after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await once(child, "spawn");
    await waitFor(() => waits(child.pid ?? 0), WAITING);
    child.kill(signal);
    assert.deepEqual(await ended, [0, null]);
  });
}

test("SIGCHLD without a child leaves it running", { skip }, async (t) => {
  const child = spawn(program, { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  await once(child, "spawn");
  await waitFor(() => waits(child.pid ?? 0), WAITING);
  child.kill("SIGCHLD");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});

test("it reaps children it inherits", { skip }, async (t) => {
  // The shell leaves a sleeping child behind and becomes the program: the child is then the program's own.
  const child = spawn("sh", ["-c", `sleep 1000 & exec ${program}`], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  const children = async (): Promise<string> => readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  try {
    await waitFor(() => waits(pid), WAITING);
    process.kill(Number(await children()), "SIGKILL");
    await waitFor(async () => (await children()) === "", { what: "the child to be reaped", timeoutMs: 60_000 });
  } finally {
    child.kill("SIGTERM");
  }
  assert.deepEqual(await ended, [0, null]);
});
