import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loadSettings } from "../../../../src/main/command/settings.js";
import { commandIo } from "../../../../src/main/process/unix/command-io.js";
import { HEAD } from "../../../support/config-kit.js";

let dir = "";
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-io-"));
  // As a ConfigMap is mounted: a folder swapped by a link, and links to its files.
  await mkdir(join(dir, "..2026"));
  await mkdir(join(dir, "sub"));
  await writeFile(join(dir, "..2026/20.conf"), `${HEAD}maxPods: 20\n`);
  await symlink("..2026", join(dir, "..data"));
  await symlink("..data/20.conf", join(dir, "20.conf"));
  await writeFile(join(dir, "sub/a.conf"), `${HEAD}staticPodPath: m\n`);
  await writeFile(join(dir, "README"), "no configuration");
});
after(() => rm(dir, { recursive: true, force: true }));

test("every file below the directory; links to folders are not followed", () => {
  deepEqual(commandIo.listFiles(dir).sort(), ["..2026/20.conf", "..data", "20.conf", "README", "sub/a.conf"]);
});

test("a missing directory is an error", () => {
  throws(() => commandIo.listFiles(join(dir, "none")), /ENOENT/);
});

test("drop-ins from a real directory", async () => {
  const request = await loadSettings([`--config-dir=${dir}`, "--fail-cgroupv1=false"], commandIo);
  ok(request.action === "run");
  deepEqual(
    request.settings.configFiles,
    ["..2026/20.conf", "20.conf", "sub/a.conf"].map((file) => join(dir, file)),
  );
  equal(request.settings.resources.maxPods, 20);
  equal(request.settings.sources.staticPodPath, join(dir, "sub/m"));
});

test("facts of this machine", () => {
  const { cgroupVersion, onlineCpus } = commandIo.host();
  ok(cgroupVersion === 1 || cgroupVersion === 2);
  ok(onlineCpus !== undefined && onlineCpus.length > 0);
});
