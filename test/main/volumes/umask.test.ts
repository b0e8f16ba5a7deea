import assert from "node:assert/strict";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { keptByUmask } from "../../../src/main/volumes/atomic-writer/umask.js";

test("modes that a new file has as requested", async (t) => {
  const folder = mkdtempSync(`${tmpdir()}/nodelet-umask-`);
  t.after(() => rmSync(folder, { recursive: true }));
  for (const mode of [0o400, 0o600, 0o644, 0o664, 0o666, 0o777, 0o700]) {
    const file = openSync(`${folder}/${mode}`, "wx", mode);
    assert.equal(await keptByUmask(mode), (fstatSync(file).mode & 0o7777) === mode, mode.toString(8));
    closeSync(file);
  }
  assert.equal(await keptByUmask(0o4644), false, "setuid is nothing for open(2)");
});
