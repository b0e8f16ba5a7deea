import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
  mkdirSync,
  symlinkSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { test } from "node:test";
import { tmpfsSize } from "../../../src/main/volumes/empty-dir/tmpfs-size.js";
import { ForeignMountError } from "../../../src/main/volumes/errors.js";
import { isMountPoint } from "../../../src/main/volumes/mounts.js";
import { VolumeError } from "../../../src/main/volumes/volume-error.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import {
  hostPathOf,
  isRoot,
  manager,
  mountsBelow,
  never,
  NODE_MEMORY,
  podWith,
  temporaryRoot,
} from "./temporary-root.js";

const MIB = 1024n ** 2n;
const disk = podWith([{ name: "data", emptyDir: {} }]);
const memory = podWith([{ name: "cache", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }]);
const skip = isRoot ? false : "needs root";

test("on disk: its path, mode 0777 under any umask, and its content survives another sync and another kubelet", async (t) => {
  const root = await temporaryRoot(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  const directory = hostPathOf(await manager(root).setUpPod(disk, never), "data");
  assert.equal(directory, `${root}/pods/uid-1/volumes/kubernetes.io~empty-dir/data`);
  assert.equal(statSync(directory).mode & 0o7777, 0o777);
  assert.equal(statSync(`${root}/pods/uid-1`).mode & 0o007, 0);
  writeFileSync(`${directory}/file`, "kept");
  execFileSync("chmod", ["0700", directory]);
  await manager(root).setUpPod(disk, never);
  assert.equal(readFileSync(`${directory}/file`, "utf8"), "kept");
  assert.equal(statSync(directory).mode & 0o7777, 0o700, "what the pod changed stays changed");
});

test("fsGroup owns the directory and passes itself on", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const pod = podWith(disk.spec.volumes ?? [], { securityContext: { fsGroup: 4321 } });
  const directory = hostPathOf(await manager(root).setUpPod(pod, never), "data");
  assert.equal(statSync(directory).gid, 4321);
  assert.equal(statSync(directory).mode & 0o7777, 0o2777);
  writeFileSync(`${directory}/file`, "");
  assert.equal(statSync(`${directory}/file`).gid, 4321);
});

test("teardown removes small, large and nested content, and is idempotent", async (t) => {
  const root = await temporaryRoot(t);
  const outside = `${root}/outside`;
  mkdirSync(outside);
  writeFileSync(`${outside}/precious`, "");
  for (const fill of [0, 5, 100]) {
    const volumes = manager(root);
    const directory = hostPathOf(await volumes.setUpPod(disk, never), "data");
    for (let i = 0; i < fill; i++) writeFileSync(`${directory}/${i}`, "x");
    symlinkSync(outside, `${directory}/link`);
    if (fill === 100) mkdirSync(`${directory}/a/b/c`, { recursive: true });
    await manager(root).tearDownPod(podUid("uid-1"));
    await volumes.tearDownPod(podUid("uid-1"));
    assert.ok(!existsSync(directory), `${fill} files`);
    assert.ok(existsSync(`${outside}/precious`), "links are not followed");
  }
});

test(
  "in memory: a tmpfs of the size asked for, mounted once, content kept, gone after teardown",
  { skip },
  async (t) => {
    const root = await temporaryRoot(t);
    const directory = hostPathOf(await manager(root).setUpPod(memory, never), "cache");
    const meta = `${root}/pods/uid-1/plugins/kubernetes.io~empty-dir/cache`;
    assert.equal(statSync(directory).mode & 0o7777, 0o1777);
    const { blocks, bsize } = statfsSync(directory);
    assert.equal(BigInt(blocks * bsize), MIB);
    assert.deepEqual(JSON.parse(readFileSync(`${meta}/mount.json`, "utf8")), {
      version: 1,
      kind: "tmpfs",
      target: directory,
      sizeBytes: String(MIB),
    });
    writeFileSync(`${directory}/file`, "kept");
    await manager(root).setUpPod(memory, never);
    assert.deepEqual(mountsBelow(root), [directory]);
    assert.equal(readFileSync(`${directory}/file`, "utf8"), "kept");
    await manager(root).tearDownPod(podUid("uid-1"));
    assert.deepEqual(mountsBelow(root), []);
    assert.ok(!existsSync(directory) && !existsSync(meta));
  },
);

test("after a reboot (ready on disk, no tmpfs) it is mounted again", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const directory = hostPathOf(await manager(root).setUpPod(memory, never), "cache");
  execFileSync("umount", [directory]);
  await manager(root).setUpPod(memory, never);
  assert.deepEqual(mountsBelow(root), [directory]);
});

test("a crash between the note and the mount leaves nothing that blocks set-up or teardown", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  const meta = `${root}/pods/uid-1/plugins/kubernetes.io~empty-dir/cache`;
  mkdirSync(meta, { recursive: true });
  mkdirSync(`${root}/pods/uid-1/volumes/kubernetes.io~empty-dir/cache`, { recursive: true });
  writeFileSync(`${meta}/mount.json`, '{"version":1,"kind":"tm');
  await manager(root).setUpPod(memory, never);
  assert.equal(mountsBelow(root).length, 1);
  await manager(root).removePodDirectory(podUid("uid-1"));
  assert.ok(!existsSync(`${root}/pods/uid-1`));
});

test(
  "a busy tmpfs is a typed error with its content intact, and is removed after its user's exit",
  { skip },
  async (t) => {
    const root = await temporaryRoot(t);
    const volumes = manager(root);
    const directory = hostPathOf(await volumes.setUpPod(memory, never), "cache");
    writeFileSync(`${directory}/file`, "kept");
    const user = spawn("sleep", ["1000"], { cwd: directory, stdio: "ignore" });
    await once(user, "spawn");
    await assert.rejects(
      volumes.tearDownPod(podUid("uid-1")),
      (error) => error instanceof VolumeError && error.message.includes(directory),
    );
    await assert.rejects(volumes.removePodDirectory(podUid("uid-1")), VolumeError);
    assert.equal(readFileSync(`${directory}/file`, "utf8"), "kept");
    user.kill("SIGKILL");
    await once(user, "exit");
    await manager(root).removePodDirectory(podUid("uid-1")); // another kubelet: this one is still in its back-off
    assert.ok(!existsSync(`${root}/pods/uid-1`));
  },
);

test(
  "nothing is removed through a mount someone else made, bind mounts of the same disk included",
  { skip },
  async (t) => {
    const root = await temporaryRoot(t);
    const volumes = manager(root);
    const directory = hostPathOf(await volumes.setUpPod(disk, never), "data");
    mkdirSync(`${root}/precious`);
    writeFileSync(`${root}/precious/file`, "kept");
    mkdirSync(`${directory}/in`);
    execFileSync("mount", ["--bind", `${root}/precious`, `${directory}/in`]);
    await assert.rejects(
      volumes.tearDownPod(podUid("uid-1")),
      (error) => error instanceof ForeignMountError && error.message.includes(`${directory}/in`),
    );
    assert.deepEqual(readdirSync(`${root}/precious`), ["file"]);
    execFileSync("umount", [`${directory}/in`]);
    await manager(root).tearDownPod(podUid("uid-1"));
  },
);

test("a root directory reached by a symlink changes none of that", { skip }, async (t) => {
  const root = await temporaryRoot(t);
  mkdirSync(`${root}/real`);
  symlinkSync("real", `${root}/link`);
  const volumes = manager(`${root}/link`);
  await volumes.setUpPod(memory, never);
  await volumes.setUpPod(memory, never);
  const mounted = `${root}/real/pods/uid-1/volumes/kubernetes.io~empty-dir/cache`;
  assert.deepEqual(mountsBelow(root), [mounted]);
  assert.ok(await isMountPoint(mounted.replace("/real/", "/link/")));
  await volumes.tearDownPod(podUid("uid-1"));
  assert.deepEqual(mountsBelow(root), []);
});

test("a directory renamed behind the kubelet's back is not in its way", async (t) => {
  const root = await temporaryRoot(t);
  const volumes = manager(root);
  const directory = hostPathOf(await volumes.setUpPod(disk, never), "data");
  await rename(directory, `${root}/elsewhere`);
  assert.equal(hostPathOf(await volumes.setUpPod(disk, never), "data"), directory);
  assert.ok(existsSync(directory));
});

test("the size of a memory volume is the least of its limit, the pod's and the node's", () => {
  const withLimit = (sizeLimit: string | undefined, podLimit?: string): bigint =>
    tmpfsSize(
      podWith([], {
        containers: [
          {
            name: "a",
            resources: podLimit === undefined ? {} : { requests: { memory: 1 }, limits: { memory: podLimit } },
          },
        ],
      }),
      sizeLimit === undefined ? {} : { sizeLimit },
      NODE_MEMORY,
    );
  assert.equal(withLimit(undefined), NODE_MEMORY);
  assert.equal(withLimit("1Mi"), MIB);
  assert.equal(withLimit("1Gi"), NODE_MEMORY);
  assert.equal(withLimit("8Mi", "2Mi"), 2n * MIB);
  assert.equal(withLimit(undefined, "2Mi"), 2n * MIB);
  assert.equal(withLimit("0"), NODE_MEMORY);
});
