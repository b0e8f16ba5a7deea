// Folders in which pods plant entries: no link is followed at their place, and listings are bounded.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import {
  entriesOf,
  FolderTooBigError,
  inUntrustedFolder,
  namesOf,
  NotFolderError,
} from "../../../../src/shared/io/fs/untrusted-folder.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

test("a link, FIFO or file in the place of the folder or of its parent is refused", { timeout: 60_000 }, async (t) => {
  const base = await temporaryFolder(t);
  await mkdir(join(base, "pod", "app"), { recursive: true });
  await symlink(join(base, "pod"), join(base, "link"));
  await symlink(join(base, "pod", "app"), join(base, "pod", "link"));
  execFileSync("mkfifo", [join(base, "pod", "fifo")]);
  await writeFile(join(base, "pod", "file"), "");
  assert.deepEqual(await inUntrustedFolder(join(base, "pod", "app"), namesOf), []);
  for (const place of ["link/app", "pod/link", "pod/fifo", "pod/file"]) {
    await assert.rejects(inUntrustedFolder(join(base, place), namesOf), NotFolderError, place);
  }
  await assert.rejects(inUntrustedFolder(join(base, "pod", "none"), namesOf), { code: "ENOENT" });
});

test("links above the checked levels are followed: the kubelet's own directories may be links", async (t) => {
  const base = await temporaryFolder(t);
  await mkdir(join(base, "disk", "pod", "app"), { recursive: true });
  await symlink(join(base, "disk"), join(base, "pods"));
  assert.deepEqual(await inUntrustedFolder(join(base, "pods", "pod", "app"), namesOf), []);
});

test("the work stays in the folder that was entered, and errors name it", async (t) => {
  const base = await temporaryFolder(t);
  const folder = join(base, "app");
  await mkdir(folder);
  await mkdir(join(base, "victim"));
  await inUntrustedFolder(folder, async (path) => {
    await rename(folder, join(base, "moved"));
    await symlink(join(base, "victim"), folder);
    await writeFile(join(path, "file"), "");
  });
  assert.deepEqual(await readdir(join(base, "victim")), []);
  assert.deepEqual(await readdir(join(base, "moved")), ["file"]);
  const failing = inUntrustedFolder(join(base, "moved"), (path) => readdir(join(path, "none")));
  await assert.rejects(failing, (error: Error) => error.message.includes(join(base, "moved", "none")));
});

test("a listing ends with an error past its limit; names that do not count have none", async (t) => {
  const folder = await temporaryFolder(t);
  for (let index = 0; index < 1000; index++) await writeFile(join(folder, `${index}.planted`), "");
  await writeFile(join(folder, "0.log"), "");
  const isLog = (name: string): boolean => name.endsWith(".log");
  assert.deepEqual(await namesOf(folder, isLog, 1), ["0.log"]);
  await assert.rejects(namesOf(folder, undefined, 1000), FolderTooBigError);
  assert.equal((await namesOf(folder, undefined, 1001)).length, 1001);
});

test("while a wide folder is listed, other work continues", async (t) => {
  const folder = await temporaryFolder(t);
  for (let index = 0; index < 2000; index++) await writeFile(join(folder, `${index}`), "");
  let turns = 0;
  let listing = true;
  const count = (): void => {
    turns++;
    if (listing) setImmediate(count);
  };
  setImmediate(count);
  let seen = 0;
  for await (const { name } of entriesOf(folder)) if (name !== "") seen++;
  listing = false;
  assert.equal(seen, 2000);
  assert.ok(turns >= 4, `${turns} turns of the event loop`);
});
