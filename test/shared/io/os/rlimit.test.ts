import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { isOsCallError } from "../../../../src/shared/io/os/errors.js";
import { openFilesLimit, setOpenFilesLimit } from "../../../../src/shared/io/os/rlimit.js";

const seenByKernel = async (): Promise<{ soft: number; hard: number }> => {
  const [, soft, hard] = /^Max open files +(\d+) +(\d+)/m.exec(await readFile("/proc/self/limits", "utf8")) ?? [];
  return { soft: Number(soft), hard: Number(hard) };
};

describe("limit of open files", () => {
  test("read and set values are the kernel's", async () => {
    const before = openFilesLimit();
    deepEqual(await seenByKernel(), before);
    const less = { soft: before.hard - 7, hard: before.hard };
    setOpenFilesLimit(less);
    try {
      deepEqual(await seenByKernel(), less);
      deepEqual(openFilesLimit(), less);
    } finally {
      setOpenFilesLimit(before);
    }
  });
  test("no process gets a limit above fs.nr_open, not even root", async () => {
    const most = Number(await readFile("/proc/sys/fs/nr_open", "utf8"));
    const { soft } = openFilesLimit();
    throws(
      () => setOpenFilesLimit({ soft, hard: most + 1 }),
      (error) => {
        ok(isOsCallError(error, "EPERM"));
        equal(error.call, "prlimit");
        return true;
      },
    );
    throws(
      () => setOpenFilesLimit({ soft, hard: Infinity }),
      (error) => isOsCallError(error, "EPERM"),
    );
  });
});
