// Files that a pod planted in a log folder: a reader opens regular files only, and waits for none.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { NotRegularFileError } from "../../../../../src/shared/io/fs/untrusted-file.js";
import { NotFolderError } from "../../../../../src/shared/io/fs/untrusted-folder.js";
import { logRun, openLogFiles } from "../../../../../src/workers/server/logs/pods/log-files.js";
import { temporaryFolder } from "../../../../support/sources-kit.js";

test("a FIFO or a symbolic link in the place of a container's log is refused", { timeout: 60_000 }, async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, "fifo"));
  execFileSync("mkfifo", [join(folder, "fifo", "0.log")]);
  await mkdir(join(folder, "link"));
  await writeFile(join(folder, "secret"), "secret");
  await symlink(join(folder, "secret"), join(folder, "link", "0.log"));
  for (const name of ["link", "fifo"]) {
    await assert.rejects(openLogFiles(logRun(folder, name, 0)), NotRegularFileError, name);
  }
});

test("a symbolic link in the place of a log folder, or of its pod's, is refused", async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, "victim", "app"), { recursive: true });
  await writeFile(join(folder, "victim", "app", "0.log"), "secret");
  await mkdir(join(folder, "pod"));
  await symlink(join(folder, "victim", "app"), join(folder, "pod", "app"));
  await symlink(join(folder, "victim"), join(folder, "linked"));
  for (const pod of ["pod", "linked"]) {
    await assert.rejects(openLogFiles(logRun(join(folder, pod), "app", 0)), NotFolderError, pod);
  }
});
