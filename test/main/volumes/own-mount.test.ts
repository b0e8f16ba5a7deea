// noswap where the kernel has it; a kernel without it is asked once. The note comes before the mount, also a failed
// one.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { ForeignMountError } from "../../../src/main/volumes/errors.js";
import { OwnMounts } from "../../../src/main/volumes/own-mount.js";
import { VolumeError } from "../../../src/main/volumes/volume-error.js";
import { OsCallError } from "../../../src/shared/io/os/errors.js";
import type { MountRequest } from "../../../src/shared/io/os/mount.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { isRoot, mountsBelow, temporaryRoot } from "./temporary-root.js";

const EINVAL = 22;
const EPERM = 1;
const skip = isRoot ? false : "needs root";

test("a kernel without noswap gets the mount without it, and is not tried again", async (t) => {
  const root = await temporaryRoot(t);
  const asked: (string | undefined)[] = [];
  const mounts = new OwnMounts(({ data, target }: MountRequest) => {
    asked.push(data);
    assert.ok(existsSync(`${root}/meta/mount.json`), "the note is there first");
    return data?.includes("noswap") === true
      ? Promise.reject(new OsCallError("mount", EINVAL, target))
      : Promise.resolve();
  });
  const intent = { version: 1, kind: "tmpfs", target: `${root}/volume`, sizeBytes: "4096" } as const;
  await mounts.make(`${root}/meta`, intent, "size=4096");
  await mounts.make(`${root}/meta`, intent, "size=4096");
  await mounts.make(`${root}/meta`, { ...intent, kind: "hugetlbfs" }, "pagesize=2097152");
  assert.deepEqual(asked, ["size=4096,noswap", "size=4096", "size=4096", "pagesize=2097152"]);
});

test("options that are wrong by themselves say nothing about noswap; other refusals are not tried again", async (t) => {
  const root = await temporaryRoot(t);
  let errno = EINVAL;
  let asked = 0;
  const mounts = new OwnMounts(({ target }: MountRequest) => {
    asked++;
    return Promise.reject(new OsCallError("mount", errno, target));
  });
  const intent = { version: 1, kind: "tmpfs", target: `${root}/volume` } as const;
  const make = () => mounts.make(`${root}/meta`, intent, "size=many");
  for (let round = 1; round <= 2; round++) {
    await assert.rejects(make(), { code: "EINVAL" });
    assert.equal(asked, 2 * round, "with and without noswap");
  }
  errno = EPERM;
  await assert.rejects(make(), { code: "EPERM" });
  assert.equal(asked, 5);
});

async function mounted(t: TestContext) {
  const root = await temporaryRoot(t);
  const [target, meta] = [`${root}/volume`, `${root}/meta`];
  mkdirSync(target);
  const mounts = new OwnMounts();
  await mounts.make(meta, { version: 1, kind: "tmpfs", target }, "size=64k");
  writeFileSync(`${target}/file`, "");
  const remove = (by = mounts): Promise<boolean> => by.remove(podUid("uid-1"), target, meta);
  return { root, target, note: `${meta}/mount.json`, mounts, remove };
}

for (const whose of ["this agent's", "an earlier agent's"]) {
  test(`a mount of ${whose} goes with its directory and its note, again and again`, { skip }, async (t) => {
    const { root, target, note, mounts, remove } = await mounted(t);
    const by = whose === "this agent's" ? mounts : new OwnMounts();
    assert.equal(await remove(by), true);
    assert.ok(!existsSync(target) && !existsSync(note));
    assert.deepEqual(mountsBelow(root), []);
    assert.equal(await remove(by), false, "nothing is known of it any more");
  });
}

test("all layers are unmounted, and the content beneath them is left to the caller", { skip }, async (t) => {
  const { root, target, note, remove } = await mounted(t);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", target]);
  assert.equal(await remove(), false);
  assert.deepEqual(mountsBelow(root), []);
  assert.ok(existsSync(target) && !existsSync(note));
});

test("another file system over it is somebody else's: it stays, with the note", { skip }, async (t) => {
  const { root, target, note, remove } = await mounted(t);
  execFileSync("mount", ["-t", "ramfs", "ramfs", target]);
  await assert.rejects(remove(), ForeignMountError);
  assert.equal(mountsBelow(root).length, 2);
  assert.ok(existsSync(note));
  execFileSync("umount", [target]);
  assert.equal(await remove(), true);
});

test("a mount that is removed already, and one in use", { skip }, async (t) => {
  const gone = await mounted(t);
  execFileSync("umount", [gone.target]);
  await gone.remove();
  assert.ok(!existsSync(gone.note));
  const used = await mounted(t);
  const user = openSync(`${used.target}/file`, "r");
  await assert.rejects(used.remove(), VolumeError);
  closeSync(user);
  assert.ok(existsSync(`${used.target}/file`) && existsSync(used.note));
  assert.equal(await used.remove(), true);
});
