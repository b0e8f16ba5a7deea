// `npm run generate:kubernetes` with sources that it cannot read: one line, and no file is written.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../../../..");

test("a folder without clones is one line that names the failed command", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "nodelet-sources-"));
  t.after(() => rm(folder, { recursive: true }));
  const args = ["tools/build/run.mjs", "dist/tools/kubernetes/main.js", "--sources", folder];
  await assert.rejects(promisify(execFile)(process.execPath, args, { cwd: ROOT }), (error: unknown) => {
    const { code, stderr, stdout } = error as { code: number; stderr: string; stdout: string };
    assert.equal(code, 1);
    assert.match(stderr, /^nodelet: `git -C \S+\/api ls-tree [^\n]+ failed \(exit status 128\): fatal: [^\n]+\n$/m);
    assert.doesNotMatch(stderr, /^ +at /m);
    assert.equal(stdout, "", "no path of a written file");
    return true;
  });
});
