// The logs of a removed container: its own file, the rotated ones and the link go, and nothing else.

import assert from "node:assert/strict";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { removeLogsOfRun } from "../../../src/main/model/removed-logs.js";
import { containerIdOf, podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { temporaryFolder } from "../../support/sources-kit.js";

const POD = { namespace: "default", name: "web", uid: podUid("uid") };

async function folders(t: TestContext, names: readonly string[]) {
  const base = await temporaryFolder(t);
  const [podLogsDir, containerLogsDir] = [join(base, "pods"), join(base, "containers")];
  const folder = join(podLogsDir, "default_web_uid", "app");
  await mkdir(folder, { recursive: true });
  await mkdir(containerLogsDir);
  for (const name of names) await writeFile(join(folder, name), "");
  for (const id of ["a", "b"]) await symlink(folder, join(containerLogsDir, `web_default_app-${id}.log`));
  const run = (restartCount: number) =>
    removeLogsOfRun(
      { podLogsDir, containerLogsDir },
      { pod: POD, container: "app", containerId: containerIdOf("a"), restartCount },
    );
  return { folder, containerLogsDir, run };
}

test("the file of the run, its rotated files and its link go", async (t) => {
  const rotated = ["1.log.20260101-000000", "1.log.20260101-000001.gz", "1.log.20260101-000002.gz.tmp"];
  const { folder, containerLogsDir, run } = await folders(t, ["1.log", ...rotated, "10.log", "11.log", "2.log", "x"]);
  await run(1);
  assert.deepEqual((await readdir(folder)).sort(), ["10.log", "11.log", "2.log", "x"]);
  assert.deepEqual(await readdir(containerLogsDir), ["web_default_app-b.log"]);
  await run(1); // again: nothing is there, and that is no error
});

test("a folder of a log's name stays, and the container can go all the same", async (t) => {
  const { folder, run } = await folders(t, ["1.log.20260101-000000"]);
  await mkdir(join(folder, "1.log"));
  await run(1);
  assert.deepEqual(await readdir(folder), ["1.log"]);
});

test("a link in place of the container's folder is not followed", async (t) => {
  const { folder, run } = await folders(t, []);
  const other = join(folder, "..", "other");
  await mkdir(other);
  await writeFile(join(other, "1.log"), "");
  await rm(folder, { recursive: true });
  await symlink(other, folder);
  await run(1);
  assert.deepEqual(await readdir(other), ["1.log"]);
});
