// Files that are whole or not there, and what happens to garbage and on a full disk.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { atomicWrite, DiskFullError } from "../../../../src/shared/io/fs/atomic-write.js";
import { readState, removeLeftovers, writeState } from "../../../../src/shared/io/fs/state-file.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

const run = promisify(execFile);

function decode(value: unknown): { version: number; n: number } {
  const state = value as { version?: number; n?: number } | null;
  if (state?.version !== 1 || typeof state.n !== "number") throw new Error("unknown version");
  return { version: 1, n: state.n };
}

test("writes whole files with their mode, makes the folder, leaves no temporary files", async (t) => {
  const path = join(await temporaryFolder(t), "a", "b.json");
  await atomicWrite(path, "one", { mode: 0o640 });
  await Promise.all(Array.from({ length: 20 }, (_, index) => atomicWrite(path, `${index}`.repeat(1000))));
  const text = await readFile(path, "utf8");
  assert.match(text, /^(\d{1,2}?)\1{999}$/);
  assert.deepEqual(await readdir(join(path, "..")), ["b.json"]);
  await atomicWrite(path, "x", { mode: 0o640 });
  assert.equal((await stat(path)).mode & 0o777, 0o640);
});

test("state comes back; none is undefined; garbage and other versions are set aside with one warning", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "state");
  const { log, warnings } = keptLog();
  const options = { clock: systemClock, log };
  assert.equal(await readState(path, decode, options), undefined);
  await writeState(path, { version: 1, n: 7 } as { version: number });
  assert.deepEqual(await readState(path, decode, options), { version: 1, n: 7 });
  for (const [index, garbage] of ['{"version":1', "", '{"version":9}', "null"].entries()) {
    await writeFile(path, garbage);
    assert.equal(await readState(path, decode, options), undefined, garbage);
    assert.equal(warnings().length, index + 1);
    assert.equal((await readdir(folder)).includes("state"), false);
    await systemClock.sleep(2);
  }
  const aside = (await readdir(folder)).filter((name) => name.startsWith("state.corrupt-"));
  assert.equal(aside.length, 4);
});

test("a folder in its place is set aside, so that a new state can be written", async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, "state");
  await mkdir(join(path, "full"), { recursive: true });
  const { log, warnings } = keptLog();
  assert.equal(await readState(path, decode, { clock: systemClock, log }), undefined);
  assert.match(warnings().join(), /not usable: set aside/);
  await writeState(path, { version: 1, n: 7 } as { version: number });
  assert.deepEqual(await readState(path, decode, { clock: systemClock, log }), { version: 1, n: 7 });
});

test("a read error that is not about the content is thrown", async (t) => {
  const folder = await temporaryFolder(t);
  await symlink("state", join(folder, "state"));
  await assert.rejects(readState(join(folder, "state"), decode, { clock: systemClock, log: keptLog().log }), /ELOOP/);
});

test("leftovers of a crash are removed, other files stay", async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, ".tmp-state-abc"), "half");
  await writeFile(join(folder, "state"), "{}");
  await removeLeftovers(join(folder, "state"));
  assert.deepEqual(await readdir(folder), ["state"]);
  await removeLeftovers(join(folder, "none", "state"));
});

test("a full disk: DiskFullError with the path, the old state stays, no temporary file", async (t) => {
  const folder = await temporaryFolder(undefined);
  await run("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]);
  t.after(async () => {
    await run("umount", [folder]);
    await rm(folder, { recursive: true });
  });
  const path = join(folder, "state");
  await writeState(path, { version: 1, n: 1 } as { version: number });
  await assert.rejects(
    atomicWrite(path, "x".repeat(256 * 1024)),
    (error: unknown) => error instanceof DiskFullError && error.path === path && error.message.includes(path),
  );
  assert.deepEqual(await readState(path, decode, { clock: systemClock, log: keptLog().log }), { version: 1, n: 1 });
  assert.deepEqual(await readdir(folder), ["state"]);
});

test("of the files that were set aside in a folder, the newest twenty stay", async (t) => {
  const folder = await temporaryFolder(t);
  const names = Array.from(
    { length: 25 },
    (_, index) => `${25 - index}.json.corrupt-2026-01-01T0000${10 + index}.000Z`,
  );
  for (const name of names) await writeFile(join(folder, name), "{");
  await writeFile(join(folder, "a.json"), "{}");
  await removeLeftovers(join(folder, "a.json"));
  assert.deepEqual((await readdir(folder)).sort(), [...names.slice(5), "a.json"].sort());
});
