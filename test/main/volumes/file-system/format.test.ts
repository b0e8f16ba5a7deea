// Which devices are formatted, and which are not: by the answers of blkid, mkfs and fsck.
// @promise Volumes: A device of a local volume is formatted only when it is blank. It is mounted once for all its pods
//   and unmounted with the last, also by the next kubelet.
// @with test/main/volumes/persistent/claims.test.ts, test/cluster/volumes.test.ts

import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareDevice, type FormatRequest } from "../../../../src/main/volumes/file-system/format.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";

interface Answer {
  code: number;
  stdout?: string;
  stderr?: string;
}

async function prepare(answers: Record<string, Answer>, fields: Partial<FormatRequest> = {}) {
  const ran: string[] = [];
  const request = { device: "/dev/made-up", fsType: "ext4", readOnly: false, ...fields };
  const result = await prepareDevice(request, (program, args) => {
    ran.push([program, ...args.filter((word) => word.startsWith("-") && word.length <= 3)].join(" "));
    const { code, stdout = "", stderr = "" } = answers[program] ?? { code: 127 };
    return Promise.resolve({ code, stdout, stderr });
  }).catch((error: unknown) => error);
  return { ran, result };
}
const message = ({ result }: { result: unknown }): string => {
  assert.ok(result instanceof VolumeError, String(result));
  return result.message;
};
const BLANK = { code: 2 };
const LOOK = "blkid -p -s -s -o";

test("a blank device is formatted as the volume requires", async () => {
  const ext4 = await prepare({ blkid: BLANK, "mkfs.ext4": { code: 0 } });
  assert.deepEqual([ext4.result, ext4.ran], ["ext4", [LOOK, "mkfs.ext4 -F -m0"]]);
  const xfs = await prepare({ blkid: BLANK, "mkfs.xfs": { code: 0 } }, { fsType: "xfs" });
  assert.deepEqual([xfs.result, xfs.ran], ["xfs", [LOOK, "mkfs.xfs -f"]]);
});

test("a file system of any type is checked and kept", async () => {
  for (const code of [0, 1, 8]) {
    const { result, ran } = await prepare({ blkid: { code: 0, stdout: "TYPE=xfs\n" }, fsck: { code } });
    assert.deepEqual([result, ran], ["xfs", [LOOK, "fsck -a"]]);
  }
  const broken = await prepare({ blkid: { code: 0, stdout: "TYPE=ext4\n" }, fsck: { code: 4, stderr: "bad inode" } });
  assert.match(message(broken), /fsck found errors .* exit 4: bad inode/);
});

test("nothing is written to a read-only volume", async () => {
  const kept = await prepare({ blkid: { code: 0, stdout: "TYPE=ext4\n" } }, { readOnly: true });
  assert.deepEqual([kept.result, kept.ran], ["ext4", [LOOK]]);
  const blank = await prepare({ blkid: BLANK }, { readOnly: true });
  assert.match(message(blank), /blank device \/dev\/made-up read-only/);
  assert.deepEqual(blank.ran, [LOOK]);
});

test("a device with partitions, or that cannot be read, is not formatted", async () => {
  const partitioned = await prepare({ blkid: { code: 0, stdout: "PTTYPE=gpt\n" } });
  assert.match(message(partitioned), /has a partition table and no file system/);
  assert.deepEqual(partitioned.ran, [LOOK]);
  assert.match(message(await prepare({ blkid: { code: 8, stderr: "ambivalent" } })), /blkid exited with 8: ambivalent/);
});

test("the type of file system is a word, not a path or an option", async () => {
  for (const fsType of ["", "../x", "-x", "ext4 -n"]) {
    const refused = await prepare({ blkid: BLANK }, { fsType });
    assert.match(message(refused), /cannot be the type of a file system/);
    assert.deepEqual(refused.ran, []);
  }
});

test("the error of a failing mkfs has its reason", async () => {
  const failed = await prepare({ blkid: BLANK, "mkfs.ext4": { code: 1, stderr: "no space" } });
  assert.match(message(failed), /cannot format device \/dev\/made-up as ext4: exit 1: no space/);
});
