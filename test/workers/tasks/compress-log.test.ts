// Compression of a rotated log: whole, as old as it was, and never lost.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { compressLog } from "../../../src/workers/tasks/index.js";
import { temporaryFolder } from "../../support/sources-kit.js";

for (const size of [0, 1000, 3 * 1024 * 1024 + 17]) {
  test(`${size} bytes are restored; mode and time are kept, the plain file is removed`, async (t) => {
    const folder = await temporaryFolder(t);
    const path = join(folder, "0.log.20260101-000000");
    const content = Buffer.alloc(size, "a line of a log\n");
    await writeFile(path, content);
    await chmod(path, 0o640);
    const time = new Date("2026-01-01T00:00:00.123Z");
    await utimes(path, time, time);
    const result = compressLog({ path });
    assert.deepEqual(await readdir(folder), ["0.log.20260101-000000.gz"]);
    const { mode, mtimeMs, size: bytes } = await stat(`${path}.gz`);
    assert.deepEqual(result, { outcome: "compressed", bytes });
    assert.equal(mode & 0o777, 0o640);
    assert.ok(Math.abs(mtimeMs - time.getTime()) < 1);
    assert.ok(gunzipSync(await readFile(`${path}.gz`)).equals(content));
  });
}

test("a missing file, and a folder that cannot be written", async (t) => {
  const folder = await temporaryFolder(t);
  assert.deepEqual(compressLog({ path: join(folder, "none") }), { outcome: "gone" });
  const path = join(folder, "0.log.20260101-000000");
  await writeFile(path, "x");
  await mkdir(`${path}.tmp`);
  const result = compressLog({ path });
  assert.ok(result.outcome === "failed");
  assert.equal(result.code, "EEXIST");
  assert.deepEqual(await readdir(folder), ["0.log.20260101-000000", "0.log.20260101-000000.tmp"]);
});

test("a link planted where the new file is written is replaced, not followed", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "0.log.20260101-000000");
  await writeFile(path, "a line");
  await writeFile(join(folder, "victim"), "untouched");
  await symlink(join(folder, "victim"), `${path}.tmp`);
  assert.equal(compressLog({ path }).outcome, "compressed");
  assert.equal(await readFile(join(folder, "victim"), "utf8"), "untouched");
  assert.equal(gunzipSync(await readFile(`${path}.gz`)).toString(), "a line");
});

test("a link planted as a rotated log is not read", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, "secret"), "secret");
  const path = join(folder, "0.log.20260101-000000");
  await symlink(join(folder, "secret"), path);
  assert.equal(compressLog({ path }).outcome, "failed");
  assert.deepEqual(await readdir(folder), ["0.log.20260101-000000", "secret"]);
});

test(
  "on a full disk the plain file stays whole and no part of a new one is left",
  { skip: process.getuid?.() !== 0 },
  async (t) => {
    const folder = await temporaryFolder(t);
    const disk = join(folder, "disk");
    await mkdir(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk]);
    try {
      const content = randomBytes(700 * 1024);
      const path = join(disk, "0.log.20260101-000000");
      await writeFile(path, content);
      const result = compressLog({ path });
      assert.ok(result.outcome === "failed");
      assert.equal(result.code, "ENOSPC");
      assert.deepEqual(await readdir(disk), ["0.log.20260101-000000"]);
      assert.ok((await readFile(path)).equals(content));
    } finally {
      execFileSync("umount", ["-l", disk]);
    }
  },
);
