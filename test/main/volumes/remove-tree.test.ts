// Directories are removed with their content, and never through a mount. The kernel's replies are enough to detect one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { test, type TestContext } from "node:test";
import { ForeignMountError } from "../../../src/main/volumes/errors.js";
import { namesIn } from "../../../src/main/volumes/paths.js";
import { removeEmpty, removeOwnTree, removeTree } from "../../../src/main/volumes/remove-tree.js";
import { FolderTooBigError } from "../../../src/shared/io/fs/untrusted-folder.js";
import { isRoot, temporaryRoot } from "./temporary-root.js";

const skip = isRoot ? false : "needs root";

/** A pod's directory with files at three depths, beside one that must stay. */
async function podDirectory(t: TestContext): Promise<{ root: string; pod: string }> {
  const root = await temporaryRoot(t);
  const pod = `${root}/pod`;
  mkdirSync(`${pod}/containers/main`, { recursive: true });
  mkdirSync(`${pod}/plugins/empty`, { recursive: true });
  mkdirSync(`${root}/precious`);
  for (const file of ["pod/etc-hosts", "pod/containers/main/log", "precious/file"])
    writeFileSync(`${root}/${file}`, "");
  symlinkSync(`${root}/precious`, `${pod}/link`);
  return { root, pod };
}

for (const [name, remove] of [
  ["removeOwnTree", removeOwnTree],
  ["removeTree", removeTree],
] as const) {
  test(`${name}: files, links and directories at any depth; a missing path is no error`, async (t) => {
    const { root, pod } = await podDirectory(t);
    await remove(pod);
    await remove(pod);
    assert.deepEqual(readdirSync(root), ["precious"]);
    assert.deepEqual(readdirSync(`${root}/precious`), ["file"]);
  });

  for (const place of ["pod/containers/main", "pod/plugins/empty", "pod"]) {
    test(`${name}: a mount at ${place} stops it before the first file is removed`, { skip }, async (t) => {
      const { root, pod } = await podDirectory(t);
      execFileSync("mount", ["--bind", `${root}/precious`, `${root}/${place}`]);
      const named = (error: unknown): boolean =>
        error instanceof ForeignMountError && error.message.includes(`${root}/${place}`);
      await assert.rejects(remove(pod), named);
      assert.deepEqual(readdirSync(`${root}/precious`), ["file"]);
      if (place !== "pod") assert.ok(existsSync(`${pod}/etc-hosts`));
      execFileSync("umount", [`${root}/${place}`]);
      assert.ok(existsSync(`${pod}/containers/main/log`) && existsSync(`${pod}/etc-hosts`));
      await remove(pod);
      assert.ok(!existsSync(pod));
    });
  }

  test(`${name}: a file that something is mounted on stays, and is named`, { skip }, async (t) => {
    const { root, pod } = await podDirectory(t);
    const flat = `${pod}/containers/main`;
    execFileSync("mount", ["--bind", `${root}/precious/file`, `${flat}/log`]);
    const named = (error: unknown): boolean =>
      error instanceof ForeignMountError && error.message.includes(`${flat}/log`);
    await assert.rejects(remove(flat), named);
    execFileSync("umount", [`${flat}/log`]);
    assert.ok(existsSync(`${flat}/log`));
  });
}

test("a mount is found by a name with spaces in it, and one beside it does not count", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  for (const name of ["a b", "a b c"]) mkdirSync(`${root}/${name}/in`, { recursive: true });
  for (const name of ["a b", "a b c"]) writeFileSync(`${root}/${name}/file`, "");
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", `${root}/a b c/in`]);
  await removeOwnTree(`${root}/a b`);
  await assert.rejects(removeOwnTree(`${root}/a b c`), (error) => String(error).includes("a b c/in"));
});

test("files that come while a tree goes are taken with it; a file in a directory's place, too", async (t) => {
  const { root, pod } = await podDirectory(t);
  const removing = removeOwnTree(pod);
  writeFileSync(`${pod}/containers/late`, "");
  await removing;
  writeFileSync(`${root}/file`, "");
  await removeOwnTree(`${root}/file`);
  assert.deepEqual(readdirSync(root), ["precious"]);
});

test("removeEmpty returns whether the directory is removed", { skip }, async (t) => {
  const { root, pod } = await podDirectory(t);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", `${pod}/plugins/empty`]);
  assert.equal(await removeEmpty(pod), false);
  assert.equal(await removeEmpty(`${pod}/plugins/empty`), false);
  assert.equal(await removeEmpty(`${root}/missing`), true);
  await assert.rejects(removeEmpty(`${pod}/etc-hosts`), { code: "ENOTDIR" });
});

/** Paths with which these functions are called from now on, by name of the function. */
function counted(t: TestContext, names: readonly ("readdir" | "unlink")[]): Record<string, () => string[]> {
  const mocks = names.map((name) => [name, t.mock.method(promises, name).mock] as const);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return Object.fromEntries(
    mocks.map(([name, mock]) => [name, () => mock.calls.map((call) => String(call.arguments[0]))]),
  );
}

test("removeOwnTree: a tree with thousands of entries is not listed whole, and the kubelet removes none of them itself", async (t) => {
  const { root, pod } = await podDirectory(t);
  for (const folder of ["containers/main", "plugins"]) {
    for (let index = 0; index < 1500; index++) writeFileSync(`${pod}/${folder}/${index}`, "");
    for (let index = 0; index < 1500; index++) mkdirSync(`${pod}/${folder}/d${index}`);
  }
  const calls = counted(t, ["readdir", "unlink"]);
  await removeOwnTree(pod);
  const listedWhole = calls["readdir"]?.().map((path) => path.slice(pod.length));
  assert.deepEqual(
    listedWhole?.filter((path) => path === "/plugins" || path === "/containers/main"),
    [],
  );
  assert.deepEqual(calls["unlink"]?.(), []);
  assert.deepEqual(readdirSync(root), ["precious"]);
  assert.deepEqual(readdirSync(`${root}/precious`), ["file"]);
});

test("namesIn: a directory is read in parts, and more names than the limit are an error", async (t) => {
  const root = await temporaryRoot(t);
  const names = Array.from({ length: 600 }, (_, index) => `${index}`).sort();
  for (const name of names) writeFileSync(`${root}/${name}`, "");
  const calls = counted(t, ["readdir"]);
  assert.deepEqual((await namesIn(root)).sort(), names);
  assert.deepEqual(calls["readdir"]?.(), []);
  await assert.rejects(namesIn(root, 599), FolderTooBigError);
  assert.deepEqual([await namesIn(`${root}/none`), await namesIn(`${root}/0`)], [[], []]);
});
