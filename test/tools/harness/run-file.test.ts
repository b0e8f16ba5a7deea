// One test file, run as the harness runs it: in a lane's process, by Node's test runner.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { FileResult } from "../../harness/file-result.js";
import { Lane } from "../../harness/lane.js";

const FILES: Record<string, string> = {
  mixed: `import { describe, test } from "node:test";
    describe("a suite", () => { test("good", () => {}); test("bad", () => { throw new Error("its reason"); }); });
    test("left out", { skip: true }, () => {}); test("later", { todo: true }, () => { throw new Error("x"); });`,
  skipped: `import { suite, test } from "node:test"; suite("all of it", { skip: "a reason" }, () => { test("a", () => {}); });`,
  empty: `export {};`,
  broken: `throw new Error("at load");`,
  hook: `import { before, describe, test } from "node:test";
    describe("a suite", () => { before(() => { throw new Error("in the hook"); }); test("good", () => {}); });`,
  killer: `import { test } from "node:test";
    test("kills the lane", async () => { process.kill(process.ppid, "SIGKILL"); await new Promise((go) => setTimeout(go, 100)); });`,
  good: `import { test } from "node:test"; test("good", () => {});`,
  spinning: `import { test } from "node:test"; test("hangs", async () => { for (;;) await new Promise(setImmediate); });`,
  environment: `import { test } from "node:test"; import assert from "node:assert";
    test("has the lane's variable", () => assert.equal(process.env.NODELET_OF_LANE, "yes"));`,
};

describe("a lane", () => {
  let dir: string;
  let lane: Lane;
  const run = (name: string, timeoutMs = 60_000): Promise<FileResult> =>
    lane.run(join(dir, `${name}.mjs`), timeoutMs, undefined);

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-lane-"));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(dir, `${name}.mjs`), text);
    lane = new Lane({ kind: "plain", node: process.execPath, env: { NODELET_OF_LANE: "yes", NODELET_PATIENCE: "1" } });
  });
  after(async () => {
    await lane.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const rows: [name: string, counts: Pick<FileResult, "passed" | "failed" | "skipped">, failure: RegExp][] = [
    ["good", { passed: 1, failed: 0, skipped: 0 }, /^$/],
    ["mixed", { passed: 1, failed: 1, skipped: 2 }, /✖ bad\n.*its reason/],
    ["skipped", { passed: 0, failed: 0, skipped: 1 }, /^$/],
    ["empty", { passed: 0, failed: 1, skipped: 0 }, /holds no test/],
    ["broken", { passed: 0, failed: 1, skipped: 0 }, /broken/],
    ["absent", { passed: 0, failed: 1, skipped: 0 }, /not built/],
    ["environment", { passed: 1, failed: 0, skipped: 0 }, /^$/],
  ];
  for (const [name, counts, failure] of rows) {
    test(`counts the tests of the file ${name}`, async () => {
      const { passed, failed, skipped, failures, output } = await run(name);
      assert.deepEqual({ passed, failed, skipped }, counts, output);
      assert.match(failures.join("\n"), failure);
    });
  }
  test("counts a failed hook as a failure", async () => {
    assert.ok((await run("hook")).failed > 0);
  });
  test("fails a file that takes too long, and names its test that hangs", async () => {
    // The test may take nine tenths of it: the rest is for the start of a process on a busy machine.
    const { failed, failures } = await run("spinning", 10_000);
    assert.ok(failed > 0);
    assert.match(failures.join("\n"), /the file did not end within 10 s/);
    // Only Node 24 lets the runner limit a test.
    const namesTests = Number(process.versions.node.split(".")[0]) >= 24;
    if (namesTests) assert.match(failures.join("\n"), /✖ hangs\n.*timed out/);
  });
  test("survives the end of its process: that file fails, the next one runs", async () => {
    const { failed, failures } = await run("killer");
    assert.equal(failed, 1);
    assert.match(failures.join(), /the lane's process ended with SIGKILL/);
    assert.equal((await run("good")).passed, 1);
  });
});
