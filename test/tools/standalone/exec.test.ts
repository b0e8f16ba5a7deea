import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const EXEC = new URL("../../../tools/standalone/exec.js", import.meta.url).href;

test("a limit of time is whole milliseconds on a machine whose deadlines are 1.1 times as long", async () => {
  const program = `
    const { run } = await import(${JSON.stringify(EXEC)});
    process.stdout.write(await run("echo", ["done"], { timeoutMs: 1_800_000 }));
  `;
  const env = { ...process.env, NODELET_PATIENCE: "1.1" };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { env });
  assert.equal(stdout.trim(), "done");
});
