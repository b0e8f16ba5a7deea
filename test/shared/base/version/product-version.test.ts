// The version of nodelet: what the build writes, and what the code reads of it.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import {
  describeVersion,
  productVersion,
  readProductVersion,
} from "../../../../src/shared/base/version/product-version.js";
import { run } from "../../../../tools/standalone/exec.js";

interface Version {
  version: string;
  commit?: string | undefined;
}
interface Builder {
  writeVersion: (root: string, folders: readonly string[]) => Promise<void>;
}
const ROOT = new URL("../../../../../", import.meta.url);
const { writeVersion } = (await import(new URL("tools/build/version.mjs", ROOT).href)) as Builder;

/** What a build of the sources in `root` writes. */
async function versionOf(root: string): Promise<Version> {
  const code = join(root, "code");
  await mkdir(code, { recursive: true });
  await writeVersion(root, [code]);
  return readProductVersion(pathToFileURL(join(code, "version.json")));
}

/** A folder with a package.json; `git` runs in it. */
async function sources(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-version-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  await writeFile(join(dir, "package.json"), '{"version":"1.2.0"}');
  const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"];
  const git = (...words: string[]): Promise<string> => run("git", ["-C", dir, ...identity, ...words]);
  const commit = async (): Promise<void> => {
    await git("add", "package.json");
    await git("commit", "--quiet", "--allow-empty", "--message=one");
  };
  return { dir, git, commit };
}

test("this build says the version in package.json", async () => {
  const { version } = JSON.parse(await readFile(new URL("package.json", ROOT), "utf8")) as Version;
  assert.equal(productVersion().version, version);
});

test("sources without git, and sources inside a repository of something else, have a version and no commit", async (t) => {
  const { dir, git, commit } = await sources(t);
  assert.deepEqual(await versionOf(dir), { version: "1.2.0" });
  await git("init", "--quiet");
  await commit();
  const inner = join(dir, "inner");
  await mkdir(inner);
  await writeFile(join(inner, "package.json"), '{"version":"3.0.0"}');
  assert.deepEqual(await versionOf(inner), { version: "3.0.0" });
});

test("a commit is named by the last release before it, and a change that is not committed is dirty", async (t) => {
  const { dir, git, commit } = await sources(t);
  await git("init", "--quiet");
  await commit();
  await commit();
  assert.match((await versionOf(dir)).commit ?? "", /^v0\.0\.0-2-g[0-9a-f]{12}$/);
  await git("tag", "another-tag");
  await git("tag", "v1.2.0");
  assert.deepEqual(await versionOf(dir), { version: "1.2.0", commit: "v1.2.0" });
  await commit();
  assert.match((await versionOf(dir)).commit ?? "", /^v1\.2\.0-1-g[0-9a-f]{12}$/);
  await writeFile(join(dir, "package.json"), '{"version":"1.3.0"}');
  assert.match((await versionOf(dir)).commit ?? "", /^v1\.2\.0-1-g[0-9a-f]{12}-dirty$/);
});

test("a build writes the version into the folders that are there, and code without the file has an unknown version", async (t) => {
  const { dir } = await sources(t);
  const [code, other] = [join(dir, "code"), join(dir, "other")];
  await mkdir(code);
  const file = pathToFileURL(join(code, "version.json"));
  assert.deepEqual(readProductVersion(file), { version: "unknown" });
  await writeVersion(dir, [code, other]);
  assert.deepEqual(readProductVersion(file), { version: "1.2.0" });
  await assert.rejects(readFile(join(other, "version.json")), /ENOENT/);
  await writeFile(file, "{");
  assert.throws(() => readProductVersion(file), SyntaxError);
});

test("the version is followed by the commit unless that is the release itself", () => {
  assert.equal(describeVersion({ version: "0.2.0" }), "0.2.0");
  assert.equal(describeVersion({ version: "0.2.0", commit: "v0.2.0" }), "0.2.0");
  assert.equal(describeVersion({ version: "0.2.0", commit: "v0.2.0-dirty" }), "0.2.0 (v0.2.0-dirty)");
  assert.equal(
    describeVersion({ version: "0.3.0", commit: "v0.2.0-4-g0123456789ab" }),
    "0.3.0 (v0.2.0-4-g0123456789ab)",
  );
});
