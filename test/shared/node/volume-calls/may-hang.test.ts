// Which paths lead over a mount that may hang; nothing on such a mount is touched to find out.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findHangable, parseHangable } from "../../../../src/shared/node/volume-calls/may-hang.js";
import { assertCpuBelow } from "../../../support/thread-cpu.js";

const TABLE = `22 1 8:1 / / rw - ext4 /dev/sda1 rw
30 22 0:50 / /mnt/nfs rw - nfs4 files:/export rw
31 22 0:51 / /mnt/with\\040space rw - fuse.sshfs far:/ rw
32 22 0:52 / /run rw - tmpfs tmpfs rw
33 22 8:16 / /var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount rw - ext4 /dev/sdb rw
broken line
`;
const mounts = parseHangable(TABLE);

/** Links of a made-up node; all else is a directory. */
function find(path: string, links: Record<string, string> = {}, below = false) {
  const readlink = (at: string): Promise<string> => {
    assert.ok(![...mounts.keys()].some((point) => at === point || at.startsWith(`${point}/`)), `${at} was touched`);
    if (at.includes("none")) return Promise.reject(Object.assign(new Error(at), { code: "ENOENT" }));
    const target = links[at];
    return target === undefined
      ? Promise.reject(Object.assign(new Error(at), { code: "EINVAL" }))
      : Promise.resolve(target);
  };
  return findHangable(path, { mounts, readlink, below });
}

test("Network and FUSE mounts, and volumes of drivers, may hang; disks and memory of the node do not", () => {
  assert.deepEqual(
    [...mounts.values()].map(({ mountPoint, device }) => [mountPoint, device]),
    [
      ["/mnt/nfs", "0:50"],
      ["/mnt/with space", "0:51"],
      ["/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pv/mount", "8:16"],
    ],
  );
});

test("A path at or below such a mount may hang, by its name or by links", async () => {
  assert.equal((await find("/mnt/nfs"))?.device, "0:50");
  assert.equal((await find("/mnt/nfs/a/../b"))?.device, "0:50");
  assert.equal((await find("/data/x", { "/data": "mnt/nfs" }))?.device, "0:50");
  assert.equal((await find("/a/b/x", { "/a/b": "../c", "/c": "/mnt/with space" }))?.device, "0:51");
  assert.equal(await find("/mnt/nfsx"), undefined);
  assert.equal(await find("/run/x"), undefined);
  assert.equal(await find("/none/mnt"), undefined);
  assert.equal(await find("/loop", { "/loop": "/loop" }), undefined);
});

test("A mount below a directory counts if links may lead there", async () => {
  assert.equal(await find("/mnt"), undefined);
  assert.equal((await find("/mnt", {}, true))?.device, "0:50");
});

test("A table of 100,000 mounts is read in linear time", () => {
  const table = Array.from({ length: 100_000 }, (_, index) => `${index} 1 0:${index} / /m/${index} rw - nfs s:/ rw\n`);
  const text = table.join("");
  assertCpuBelow(2000, () => assert.equal(parseHangable(text).size, 100_000));
});
