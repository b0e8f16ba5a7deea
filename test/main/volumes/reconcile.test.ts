// Leftovers of a kubelet that was killed at any instruction between a mount record and its removal. The next kubelet
// corrects them before it deletes anything.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { ForeignMountError } from "../../../src/main/volumes/errors.js";
import { reconcile } from "../../../src/main/volumes/reconcile.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { hostPathOf, isRoot, manager, mountsBelow, never, options, podWith, temporaryRoot } from "./temporary-root.js";

const skip = isRoot ? false : "needs root";
const memory = podWith([{ name: "cache", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }]);
const EMPTY_DIR = "kubernetes.io~empty-dir";

async function world(t: TestContext) {
  const root = await temporaryRoot(t);
  const directory = `${root}/pods/uid-1/volumes/${EMPTY_DIR}/cache`;
  const meta = `${root}/pods/uid-1/plugins/${EMPTY_DIR}/cache`;
  const note = (text = JSON.stringify({ version: 1, kind: "tmpfs", target: directory })): void => {
    mkdirSync(meta, { recursive: true });
    writeFileSync(`${meta}/mount.json`, text);
  };
  const mounted = (type = "tmpfs"): void => {
    mkdirSync(directory, { recursive: true });
    execFileSync("mount", ["-t", type, type, directory]);
  };
  return { root, directory, meta, note, mounted };
}
type World = Awaited<ReturnType<typeof world>>;

/** Every state in which a kubelet can be killed, between the first and the last instruction of a memory volume. */
const moments: [string, (world: World) => void][] = [
  ["the pod's directory is made", ({ root }) => mkdirSync(`${root}/pods/uid-1/volumes`, { recursive: true })],
  ["the volume's directory is made", ({ directory }) => mkdirSync(directory, { recursive: true })],
  [
    "the note is half written",
    ({ directory, meta }) => {
      mkdirSync(directory, { recursive: true });
      mkdirSync(meta, { recursive: true });
      writeFileSync(`${meta}/.tmp-mount.json-0a1b2c`, '{"version":1,"ki');
    },
  ],
  [
    "the note is written",
    ({ directory, note }) => {
      mkdirSync(directory, { recursive: true });
      note();
    },
  ],
  ["the note is written, its directory is not", ({ note }) => note()],
  [
    "it is mounted",
    ({ note, mounted }) => {
      note();
      mounted();
    },
  ],
  [
    "it is mounted, and the note cannot be read",
    ({ note, mounted }) => {
      note("{");
      mounted();
    },
  ],
  [
    "it is ready",
    ({ note, mounted, meta }) => {
      note();
      mounted();
      writeFileSync(`${meta}/ready`, "");
    },
  ],
  [
    "it is unmounted again",
    ({ note, directory, meta }) => {
      note();
      mkdirSync(directory, { recursive: true });
      writeFileSync(`${meta}/ready`, "");
    },
  ],
  [
    "the directory is removed",
    ({ meta }) => {
      mkdirSync(meta, { recursive: true });
      writeFileSync(`${meta}/ready`, "");
    },
  ],
];

for (const [moment, make] of moments) {
  test(`killed when ${moment}: set up again, or torn down without a trace`, { skip }, async (t) => {
    const pod = await world(t);
    make(pod);
    const directory = hostPathOf(await manager(pod.root).setUpPod(memory, never), "cache");
    assert.deepEqual(mountsBelow(pod.root), [directory], "mounted, and once");
    writeFileSync(`${directory}/file`, "x");
    await manager(pod.root).removePodDirectory(podUid("uid-1"));
    assert.deepEqual([mountsBelow(pod.root), readdirSync(`${pod.root}/pods`)], [[], []]);
    make(pod);
    await manager(pod.root).removePodDirectory(podUid("uid-1"));
    assert.deepEqual([mountsBelow(pod.root), readdirSync(`${pod.root}/pods`)], [[], []]);
  });
}

test("notes of mounts that never happened go; those of mounts, and directories, stay", { skip }, async (t) => {
  const pod = await world(t);
  pod.note();
  mkdirSync(pod.directory, { recursive: true });
  writeFileSync(`${pod.directory}/content`, "");
  assert.deepEqual(await reconcile(options(pod.root)), []);
  assert.ok(!existsSync(`${pod.meta}/mount.json`) && existsSync(`${pod.directory}/content`));
  pod.note();
  pod.mounted();
  const found = { uid: "uid-1", volume: "cache", plugin: "kubernetes.io/empty-dir", place: undefined };
  assert.deepEqual(await reconcile(options(pod.root)), [found]);
  assert.ok(existsSync(`${pod.meta}/mount.json`));
});

test(
  "a mount of a kind that the plugin does not make stays, with a note or without, and so does the pod's directory",
  { skip },
  async (t) => {
    const pod = await world(t);
    const refused = (error: unknown): boolean =>
      error instanceof ForeignMountError && error.message.includes(pod.directory);
    pod.mounted("ramfs");
    await assert.rejects(manager(pod.root).removePodDirectory(podUid("uid-1")), refused);
    execFileSync("umount", [pod.directory]);
    pod.note();
    pod.mounted("ramfs");
    writeFileSync(`${pod.directory}/precious`, "");
    await assert.rejects(manager(pod.root).removePodDirectory(podUid("uid-1")), refused);
    assert.ok(existsSync(`${pod.directory}/precious`));
    execFileSync("umount", [pod.directory]);
    await manager(pod.root).removePodDirectory(podUid("uid-1"));
  },
);

test("a mount without a record is unmounted together with its pod", { skip }, async (t) => {
  const pod = await world(t);
  pod.mounted();
  pod.mounted();
  writeFileSync(`${pod.directory}/file`, "");
  const found = { uid: "uid-1", volume: "cache", plugin: "kubernetes.io/empty-dir", place: undefined };
  assert.deepEqual(await reconcile(options(pod.root)), [found]);
  assert.ok(existsSync(`${pod.directory}/file`));
  await manager(pod.root).removePodDirectory(podUid("uid-1"));
  assert.ok(!existsSync(pod.directory));
});

test("a pod's unreadable directory affects no other pod's", async (t) => {
  const root = await temporaryRoot(t);
  mkdirSync(`${root}/pods/uid-1/volumes/${EMPTY_DIR}/a`, { recursive: true });
  mkdirSync(`${root}/pods/uid-1/plugins/${EMPTY_DIR}/a`, { recursive: true });
  writeFileSync(`${root}/pods/uid-1/plugins/${EMPTY_DIR}/a/ready`, "");
  mkdirSync(`${root}/pods/uid-2/volumes/${EMPTY_DIR}/b`, { recursive: true });
  mkdirSync(`${root}/pods/uid-2/plugins/${EMPTY_DIR}/b`, { recursive: true });
  symlinkSync("mount.json", `${root}/pods/uid-2/plugins/${EMPTY_DIR}/b/mount.json`);
  const counted: boolean[] = [];
  const metrics = { ...options(root).metrics, reconstructed: (ok: boolean) => counted.push(ok) };
  const found = await reconcile({ ...options(root), metrics });
  assert.deepEqual(
    found.map(({ uid, volume }) => `${uid} ${volume}`),
    ["uid-1 a"],
  );
  assert.deepEqual(counted.sort(), [false, true]);
});
