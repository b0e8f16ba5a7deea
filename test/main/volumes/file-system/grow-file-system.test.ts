// The tool that grows a file system, by the type that blkid reports.

import assert from "node:assert/strict";
import { test } from "node:test";
import { growFileSystem } from "../../../../src/main/volumes/file-system/grow-file-system.js";

async function calls(content: string, { found = 0, grown = 0 } = {}): Promise<string[]> {
  const made: string[] = [];
  await growFileSystem({ device: "/dev/x", mountPoint: "/pods/v" }, (program, args) => {
    if (program === "blkid") return Promise.resolve({ code: found, stdout: content, stderr: "" });
    made.push([program, ...args].join(" "));
    return Promise.resolve({ code: grown, stdout: "", stderr: "no space" });
  });
  return made;
}

test("each type of file system has its tool; a blank device needs none", async () => {
  assert.deepEqual(await calls("TYPE=ext3\n"), ["resize2fs /dev/x"]);
  assert.deepEqual(await calls("TYPE=ext4\n"), ["resize2fs /dev/x"]);
  assert.deepEqual(await calls("TYPE=xfs\n"), ["xfs_growfs -d /pods/v"]);
  assert.deepEqual(await calls("TYPE=btrfs\n"), ["btrfs filesystem resize max /pods/v"]);
  assert.deepEqual(await calls("", { found: 2 }), []);
});

test("another type, and a tool that fails, are errors with the device's name", async () => {
  await assert.rejects(calls("TYPE=vfat\n"), /type vfat on device \/dev\/x cannot grow/);
  await assert.rejects(calls("TYPE=ext4\n", { grown: 1 }), /on device \/dev\/x: resize2fs: exit 1: no space/);
});
