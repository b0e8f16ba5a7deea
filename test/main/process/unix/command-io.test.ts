import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
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
  const files = commandIo.listFiles(dir);
  deepEqual(typeof files === "string" ? files : files.sort(), [
    "..2026/20.conf",
    "..data",
    "20.conf",
    "README",
    "sub/a.conf",
  ]);
});

test("as in Go's WalkDir, a directory that is a link is not followed, unless a slash ends its path", async () => {
  const link = join(dir, "..data");
  const args = (path: string): string[] => [`--config-dir=${path}`, "--fail-cgroupv1=false"];
  const request = await loadSettings(args(link), commandIo);
  ok(request.action === "run");
  deepEqual(request.settings.configFiles, []);
  match(request.settings.warnings.join("\n"), /^--config-dir: ".*\.\.data" is a symbolic link, which is not followed/);
  const followed = await loadSettings(args(`${link}/`), commandIo);
  ok(followed.action === "run");
  deepEqual(followed.settings.configFiles, [join(link, "20.conf")]);
});

test("a path of a file is a drop-in if its name ends with .conf, and otherwise not read", async () => {
  const args = (path: string): string[] => [`--config-dir=${join(dir, path)}`, "--fail-cgroupv1=false"];
  const request = await loadSettings(args("..2026/20.conf"), commandIo);
  ok(request.action === "run");
  equal(request.settings.resources.maxPods, 20);
  const other = await loadSettings(args("README"), commandIo);
  ok(other.action === "run");
  match(other.settings.warnings.join("\n"), /README" is no directory/);
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
