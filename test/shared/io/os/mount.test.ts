import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rmdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { isOsCallError } from "../../../../src/shared/io/os/errors.js";
import { mount, unmount } from "../../../../src/shared/io/os/mount.js";

const scratch = await mkdtemp(join(tmpdir(), "nodelet-mount-"));
after(() => rm(scratch, { recursive: true }));
const isRoot = process.getuid?.() === 0;

/** Options of the mount at the path, first the mount's own; undefined without a mount. */
const optionsAt = async (path: string): Promise<string[] | undefined> => {
  const line = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").find((text) => text.split(" ")[4] === path);
  return line?.split(" ")[5]?.split(",");
};

describe("mount", { timeout: 120_000, skip: isRoot ? false : "needs root" }, () => {
  test("tmpfs, bind, remount read-only, unmount", async () => {
    const [memory, bound] = [join(scratch, "memory"), join(scratch, "bound")];
    await Promise.all([mkdir(memory), mkdir(bound)]);
    await mount({ source: "tmpfs", target: memory, type: "tmpfs", flags: ["noSuid", "noExec"], data: "size=1m" });
    try {
      deepEqual((await optionsAt(memory))?.slice(0, 3), ["rw", "nosuid", "noexec"]);
      await writeFile(join(memory, "file"), "text");
      await mount({ source: memory, target: bound, flags: ["bind"] });
      try {
        await mount({ source: memory, target: bound, flags: ["bind", "remount", "readOnly"] });
        equal(await readFile(join(bound, "file"), "utf8"), "text");
        await rejects(writeFile(join(bound, "file"), ""), { code: "EROFS" });
        await writeFile(join(memory, "file"), "");
      } finally {
        await unmount(bound, ["noFollow"]);
      }
    } finally {
      await unmount(memory, ["detach"]);
    }
    equal(await optionsAt(memory), undefined);
    await Promise.all([rmdir(memory), rmdir(bound)]);
  });
  test("refusals name the call, the paths and the code", async () => {
    await rejects(unmount(scratch), (error) => isOsCallError(error, "EINVAL"));
    await rejects(mount({ source: "x", target: join(scratch, "none"), type: "tmpfs" }), (error) => {
      ok(isOsCallError(error, "ENOENT"));
      equal(error.call, "mount");
      return error.message.includes(join(scratch, "none"));
    });
  });
});
