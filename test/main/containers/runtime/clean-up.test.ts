// Folders go with all in them; links are not followed; what others remove meanwhile is no error.

import assert from "node:assert/strict";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { cleanUpPod } from "../../../../src/main/containers/runtime/clean-up.js";
import type { NodeRuntime } from "../../../../src/main/containers/runtime/node-runtime.js";
import { removeFiles } from "../../../../src/main/containers/runtime/remove-files.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { temporaryFolder } from "../../../support/sources-kit.js";

test("a folder is removed with files, folders and links in it; the targets of links stay", async (t) => {
  const base = await temporaryFolder(t);
  const kept = join(base, "kept");
  await mkdir(kept);
  await writeFile(join(kept, "file"), "");
  const folder = join(base, "folder");
  await mkdir(join(folder, "a", "b"), { recursive: true });
  await mkdir(join(folder, "empty"));
  await writeFile(join(folder, "a", "b", "file"), "");
  await symlink(kept, join(folder, "a", "link"));
  await symlink("nowhere", join(folder, "broken"));
  await removeFiles(folder);
  assert.deepEqual(await readdir(base), ["kept"]);
  assert.deepEqual(await readdir(kept), ["file"]);
});

test("the path may be a file, a link to a folder, or missing", async (t) => {
  const base = await temporaryFolder(t);
  await mkdir(join(base, "kept"));
  await writeFile(join(base, "kept", "file"), "");
  await writeFile(join(base, "file"), "");
  await symlink(join(base, "kept"), join(base, "link"));
  for (const name of ["file", "link", "missing", "a name that no folder can have".padEnd(256, "x")])
    await removeFiles(join(base, name));
  assert.deepEqual(await readdir(base), ["kept"]);
  assert.deepEqual(await readdir(join(base, "kept")), ["file"]);
});

test("several removals of the same folder all succeed", async (t) => {
  const base = await temporaryFolder(t);
  const folder = join(base, "folder");
  for (let i = 0; i < 20; i++) {
    await mkdir(join(folder, `${i}`), { recursive: true });
    await writeFile(join(folder, `${i}`, "file"), "");
  }
  await Promise.all(Array.from({ length: 4 }, () => removeFiles(folder)));
  assert.deepEqual(await readdir(base), []);
});

test("an entry that can't be removed is reported", async () => {
  await assert.rejects(removeFiles("/proc/self/task"), { code: /^E(PERM|ACCES|BUSY|NOTEMPTY|ROFS)$/ });
});

test("a folder with more files than one batch goes", async (t) => {
  const base = await temporaryFolder(t);
  const folder = join(base, "folder");
  await mkdir(folder);
  for (let index = 0; index < 1000; index++) await writeFile(join(folder, `${index}`), "");
  await removeFiles(folder);
  assert.deepEqual(await readdir(base), []);
});

test("the logs of a pod without a definition go by its whole UID; those of a UID that ends alike stay", async (t) => {
  const base = await temporaryFolder(t);
  const [podLogsDir, containerLogsDir] = [join(base, "pods"), join(base, "containers")];
  const others = ["default_web_b_uid", "default_uid", "default_web_uid2", "A_web_uid"];
  for (const name of ["default_web_uid", "kube-system_a.b_uid", ...others])
    await mkdir(join(podLogsDir, name), { recursive: true });
  await mkdir(containerLogsDir);
  await symlink(join(podLogsDir, "default_web_uid", "c", "0.log"), join(containerLogsDir, "web_default_c-1.log"));
  await symlink(join(podLogsDir, "default_web_b_uid", "c", "0.log"), join(containerLogsDir, "web_default_c-2.log"));
  const runtime = {
    settings: { podLogsDir, containerLogsDir },
    volumes: { removePodDirectory: () => Promise.resolve() },
    cgroups: { removePod: () => Promise.resolve() },
    userNamespaces: { release: () => undefined },
  } as unknown as NodeRuntime;
  await cleanUpPod(runtime, podUid("uid"), new AbortController().signal);
  assert.deepEqual((await readdir(podLogsDir)).sort(), [...others].sort());
  assert.deepEqual(await readdir(containerLogsDir), ["web_default_c-2.log"]);
});
