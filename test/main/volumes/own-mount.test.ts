// noswap where the kernel has it; a kernel without it is asked once. The note comes before the mount, also a failed one.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { OwnMounts } from "../../../src/main/volumes/own-mount.js";
import { OsCallError } from "../../../src/shared/os/errors.js";
import type { MountRequest } from "../../../src/shared/os/mount.js";
import { temporaryRoot } from "./temporary-root.js";

const EINVAL = 22;
const EPERM = 1;

test("a kernel without noswap gets the mount without it, and is not asked again", async (t) => {
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
