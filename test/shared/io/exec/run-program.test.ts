// One run of a program: its answer, and all the ways in which there is none.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { systemClock, type Clock } from "../../../../src/shared/base/clock/clock.js";
import { ProgramFailedError, type ProgramFailure } from "../../../../src/shared/io/exec/program-errors.js";
import { runProgram, type ProgramRun } from "../../../../src/shared/io/exec/run-program.js";
import { temporaryFolder, until } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

async function script(t: TestContext, text: string): Promise<string> {
  const file = join(await temporaryFolder(t), "program");
  await writeFile(file, `#!/bin/sh\n${text}\n`);
  await chmod(file, 0o755);
  return file;
}
const runOf = (command: string, more: Partial<ProgramRun> = {}, clock: Clock = systemClock): ProgramRun => {
  return { command, args: [], env: [], clock, ...more };
};

test("input, arguments and environment go in, standard output comes out", async (t) => {
  const command = await script(t, 'echo "$1 $OWN $(cat) $([ -n "$PATH" ] && echo path)"; echo unseen >&2');
  const env = [
    { name: "OWN", value: "first" },
    { name: "OWN", value: "last" },
  ];
  assert.equal(await runProgram(runOf(command, { args: ["get"], env, input: "told" })), "get last told path\n");
  assert.equal(await runProgram(runOf(command)), "   path\n");
  assert.equal(await runProgram(runOf("echo", { args: ["found"] })), "found\n");
});

test("a program that does not read its input may still respond", async (t) => {
  const command = await script(t, "exec <&-; echo fine");
  assert.equal(await runProgram(runOf(command, { input: "x".repeat(200_000) })), "fine\n");
});

const failing: [text: string, failure: ProgramFailure, message: RegExp, exitCode: number | undefined][] = [
  ["echo secret; echo sorry >&2; exit 7", "ended", /^failed with exit status 7: sorry$/, 7],
  ["exit 1", "ended", /^failed with exit status 1$/, 1],
  ["kill -9 $$", "ended", /^was killed by SIGKILL$/, undefined],
  ["head -c 100000 /dev/zero | tr '\\0' x >&2; exit 2", "ended", /: x{1024}$/, 2],
  ["yes secret", "flood", /^printed more than 1048576 bytes, killed$/, undefined],
];
for (const [text, failure, message, exitCode] of failing) {
  test(`a program that fails: ${text}`, async (t) => {
    await assert.rejects(runProgram(runOf(await script(t, text))), (error) => {
      assert.ok(error instanceof ProgramFailedError);
      assert.deepEqual([error.failure, error.exitCode], [failure, exitCode]);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });
}

test("a missing program, one without execute permission, and input beyond the kernel's limit are errors", async (t) => {
  const command = await script(t, "exit 0");
  const rejects = (run: ProgramRun, failure: ProgramFailure, message: RegExp) =>
    assert.rejects(runProgram(run), { name: "ProgramFailedError", failure, message });
  await rejects(runOf(`${command}-gone`), "missing", /^is not there$/);
  await rejects(runOf("no-such-program-anywhere"), "missing", /^is not there$/);
  await rejects(runOf(command, { env: [{ name: "A", value: "x".repeat(3e6) }] }), "not run", /^can't be run: .*E2BIG/);
  await chmod(command, 0o644);
  await rejects(runOf(command), "not run", /^can't be run: .*EACCES/);
});

test("a null byte in an argument or variable is an error that does not show the value", async () => {
  const failed = (error: unknown): boolean =>
    error instanceof ProgramFailedError && error.message.includes("null byte") && error.cause === undefined;
  await assert.rejects(runProgram(runOf("/bin/true", { args: ["secret\0"] })), failed);
  await assert.rejects(runProgram(runOf("/bin/true", { env: [{ name: "A", value: "secret\0" }] })), failed);
});

test("a program that hangs is killed with its children at its deadline, or when its caller aborts", async (t) => {
  const command = await script(t, 'sleep 1000 & echo "$$ $!" > $0.pids; wait');
  const clock = new SteppedClock();
  const hanging = runProgram(runOf(command, {}, clock));
  const failed = assert.rejects(hanging, { failure: "slow", message: "gave no response within 60 s, killed" });
  let pids: number[] = [];
  while (pids.length < 2) {
    pids = (await readFile(`${command}.pids`, "utf8").catch(() => "")).split(/\s+/).filter(Boolean).map(Number);
  }
  clock.step(59_999);
  assert.deepEqual(pids.map(isAlive), [true, true]);
  clock.step(1);
  await failed;
  await until("it and its child are dead", () => !pids.some(isAlive));
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = runProgram(runOf(command, { signal }, clock));
  controller.abort(new Error("nobody waits"));
  await assert.rejects(aborted, /^Error: nobody waits$/);
  await assert.rejects(runProgram(runOf(command, { signal }, clock)), /^Error: nobody waits$/);
  assert.equal(clock.pending, 0);
});

/** A process that was not reaped yet counts as dead too. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
