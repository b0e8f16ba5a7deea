// Errors before the log exists: of the operator, of a closed output, and defects, whose source line may be as long as
// the bundle.

import { doesNotMatch, equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { earlyErrorText } from "../../../../src/main/process/unix/early-errors.js";
import { OperatorError } from "../../../../src/shared/base/errors/operator-error.js";
import { KUBELET_ENTRY } from "../../../../tools/standalone/kubelet-process.js";

const EARLY_ERRORS = new URL("../../../../src/main/process/unix/early-errors.js", import.meta.url).href;
const OTHER_CODE = `/* ${"other code of the bundle ".repeat(4000)} */`;

/** Ends with the error that `how` throws, on a line that is as long as one of a bundle. */
async function endedBy(how: string): Promise<{ status: number; stderr: string }> {
  const script = `import { reportEarlyErrors } from "${EARLY_ERRORS}"; reportEarlyErrors(); ${how} ${OTHER_CODE}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number]>]);
  return { status, stderr };
}

describe("an error before the log exists", () => {
  for (const [what, how] of [
    ["a rejection", 'void Promise.reject(new Error("wrong \\u001b[31m"));'],
    ["an exception of a callback", 'setImmediate(() => { throw new Error("wrong \\u001b[31m"); });'],
  ] as const) {
    test(`${what} that is a defect ends the process with its stack, without the source line`, async () => {
      const { status, stderr } = await endedBy(how);
      equal(status, 1);
      match(stderr, /^kubelet: a defect, please report it with this stack: Error: wrong \\x1b\[31m\n +at /);
      doesNotMatch(stderr, /other code of the bundle/);
    });
  }

  test("a thrown value that is no error, and one with a cause, are shown", () => {
    match(earlyErrorText("text"), /this stack: 'text'\n$/);
    match(earlyErrorText(new Error("outer", { cause: new Error("inner") })), /Error: outer[^]*cause.*Error: inner/);
  });

  test("a fault of the operator is its message; a defect is bounded", () => {
    equal(earlyErrorText(new OperatorError("no such \u0007 file")), "no such \\x07 file\n");
    ok(earlyErrorText(new Error("x".repeat(1_000_000))).length < 20_000);
  });

  test("the log's own listener decides, if there is one", async () => {
    const log = 'process.on("uncaughtException", () => { process.stderr.write("logged"); process.exitCode = 3; });';
    const { status, stderr } = await endedBy(`${log} setImmediate(() => { throw new Error("late"); });`);
    equal(stderr, "logged");
    equal(status, 3);
  });
});

test("output to a full disk fails with one line", async () => {
  const full = await open("/dev/full", "w");
  const child = spawn(process.execPath, [KUBELET_ENTRY, "--help"], { stdio: ["ignore", full.fd, "pipe"] });
  const [stderr, [status]] = await Promise.all([text(child.stderr!), once(child, "exit") as Promise<[number]>]);
  await full.close();
  match(stderr, /^cannot write the output: ENOSPC: .*\n$/);
  equal(status, 1);
});

test("a reader that closes the pipe (kubelet --help | head) gets no stack", async () => {
  for (const flag of ["--help", "--version"]) {
    const child = spawn(process.execPath, [KUBELET_ENTRY, flag], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number]>]);
    equal(stderr, "");
    equal(status, 0);
  }
});
