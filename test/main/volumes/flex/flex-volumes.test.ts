// flexVolumes of pods through the volume manager: a driver's calls, and the state after a restart and the pod's
// removal.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { readMounts } from "../../../../src/shared/io/fs/mountinfo.js";
import type { Volume } from "../../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { waitFor } from "../../../../tools/standalone/wait.js";
import { flexDriver, SUCCESS } from "../../../support/flex-driver.js";
import { canHang, HungMounts } from "../../../support/hung-mounts.js";
import { loopDevice } from "../../../support/loop-device.js";
import { until } from "../../../support/sources-kit.js";
import {
  hostPathOf,
  isRoot,
  keptEvents,
  manager,
  mountsBelow,
  never,
  podWith,
  temporaryRoot,
} from "../temporary-root.js";

const skip = isRoot ? false : "needs root";
const DRIVER = "test/disk";
const volume: Volume = {
  name: "data",
  flexVolume: { driver: DRIVER, fsType: "ext4", options: { size: "<1>", "kubernetes.io/pod.name": "mine" } },
};

async function world(t: TestContext, { install = true } = {}) {
  const root = await temporaryRoot(t);
  const events = keptEvents();
  const made = (): ReturnType<typeof manager> => {
    const one = manager(root, { events });
    t.after(() => one.stop());
    return one;
  };
  const script = (): ReturnType<typeof flexDriver> => flexDriver(`${root}/drivers`, DRIVER, `${root}/home`);
  return { root, events: events.seen, made, script, driver: install ? await script() : undefined };
}

test("mount and unmount: the driver's arguments, the volume's files, nothing left", { skip }, async (t) => {
  const { root, made, driver } = await world(t);
  const one = made();
  const pod = podWith([volume], { serviceAccountName: "robot", securityContext: { fsGroup: 4711 } });
  const path = hostPathOf(await one.setUpPod(pod, never), "data");
  assert.equal(path, `${root}/pods/uid-1/volumes/test~disk/data`);
  const options = {
    "kubernetes.io/fsType": "ext4",
    "kubernetes.io/mounterArgs.FsGroup": "4711",
    "kubernetes.io/pod.name": "mine",
    "kubernetes.io/pod.namespace": "default",
    "kubernetes.io/pod.uid": "uid-1",
    "kubernetes.io/pvOrVolumeName": "data",
    "kubernetes.io/readwrite": "rw",
    "kubernetes.io/serviceAccount.name": "robot",
    size: "<1>",
  };
  assert.equal(
    readFileSync(`${path}/options`, "utf8"),
    `${JSON.stringify(options).replace("<1>", "\\u003c1\\u003e")}\n`,
  );
  await one.setUpPod(pod, never);
  await one.removePodDirectory(podUid("uid-1"));
  const calls = await driver?.calls();
  assert.deepEqual(
    calls?.map(([command = "", target = ""]) => `${command} ${target}`),
    ["init ", `mount ${path}`, `unmount ${path}`],
  );
  assert.deepEqual(mountsBelow(root), []);
  assert.equal(existsSync(`${root}/pods/uid-1`), false);
});

test("a kubelet that finds the volume mounted does not mount it again, and unmounts it", { skip }, async (t) => {
  const { root, made, driver } = await world(t);
  const pod = podWith([volume]);
  const path = hostPathOf(await made().setUpPod(pod, never), "data");
  await made().setUpPod(pod, never);
  assert.equal((await driver?.calls())?.filter(([command]) => command === "mount").length, 1);
  // A third one knows the pod only from disk.
  await made().removePodDirectory(podUid("uid-1"));
  assert.equal(existsSync(path), false);
  assert.deepEqual(mountsBelow(root), []);
});

test(
  "a pod waits for its driver, the error names the directory of the driver, and the pod gets it as soon as it appears",
  { skip },
  async (t) => {
    const { root, made, script, events } = await world(t, { install: false });
    const one = made();
    const setUp = one.setUpPod(podWith([volume]), never);
    await until("the event", () => events.length > 0);
    const where = `put its program at ${root}/drivers/test~disk/disk`;
    assert.ok(events[0]?.reason === "FailedMount" && events[0].message.includes("no volume plugin matched"));
    assert.ok(events[0].message.includes(where), events[0].message);
    await script();
    await setUp;
    await one.removePodDirectory(podUid("uid-1"));
  },
);

test(
  "a volume whose server does not respond is unmounted by the driver, and not looked at",
  { skip: skip || (canHang ? false : "needs /dev/fuse") },
  async (t) => {
    const { made, driver } = await world(t);
    const mounts = new HungMounts();
    t.after(() => mounts.releaseAll());
    const one = made();
    const path = hostPathOf(await one.setUpPod(podWith([volume]), never), "data");
    await mounts.hang(path);
    const ended = one.tearDownPod(podUid("uid-1")).catch(() => undefined);
    const calls = async (): Promise<string[]> => (await driver?.calls())?.map(([command = ""]) => command) ?? [];
    await waitFor(async () => (await calls()).includes("unmount"), { what: "a call of the driver" });
    await mounts.releaseAll();
    await ended;
  },
);

test("a driver that is removed keeps the volume mounted, and the pod, until it is back", { skip }, async (t) => {
  const { made, driver, script } = await world(t);
  const one = made();
  const path = hostPathOf(await one.setUpPod(podWith([volume]), never), "data");
  await driver?.remove();
  await assert.rejects(one.tearDownPod(podUid("uid-1")), /driver "test\/disk" is not installed on this node/);
  assert.ok(mountsBelow(path).length > 0);
  await script();
  const isGone = (): Promise<boolean> =>
    one.removePodDirectory(podUid("uid-1")).then(
      () => true,
      () => false,
    );
  await waitFor(isGone, { what: "the end of the back-off" });
  assert.equal(existsSync(path), false);
});

test("a mount that fails leaves no directory, and is tried again", { skip }, async (t) => {
  const { made, driver, events } = await world(t);
  await driver?.answer("mount", `echo '{"status":"Failure","message":"no disk"}'; exit 1`);
  const one = made();
  const setUp = one.setUpPod(podWith([volume]), never);
  await until("the event", () => events.length > 0);
  const text = 'MountVolume.SetUp failed for volume "data" : mount command failed, status: Failure, reason: no disk';
  assert.deepEqual([events[0]?.reason, events[0]?.message], ["FailedMount", text]);
  await driver?.answer("mount", undefined);
  await setUp;
  await one.removePodDirectory(podUid("uid-1"));
});

test(
  "an attaching driver: attach, device formatted and mounted once, bound to pods, detached after the last",
  { skip },
  async (t) => {
    const { root, made, driver } = await world(t);
    const device = loopDevice(`${root}/disk`, 16 << 20);
    if (device === undefined) {
      t.diagnostic("no loop device can be had here");
      return;
    }
    t.after(() => device.detach());
    await driver?.answer("init", SUCCESS);
    await driver?.answer("attach", `echo '{"status":"Success","device":"${device.path}"}'`);
    for (const command of ["mount", "unmount"]) await driver?.answer(command, `echo '{"status":"Not supported"}'`);
    const one = made();
    const first = hostPathOf(await one.setUpPod(podWith([volume]), never), "data");
    await one.setUpPod(podWith([volume], {}, "uid-2"), never);
    const global = `${root}/plugins/kubernetes.io/flexvolume/test/disk/mounts/data`;
    const table = await readMounts();
    const at = (place: string): string | undefined => table.find(({ mountPoint }) => mountPoint === place)?.fsType;
    assert.deepEqual([at(global), at(first)], ["ext4", "ext4"]);
    await one.removePodDirectory(podUid("uid-1"));
    assert.ok(mountsBelow(root).includes(global), "the other pod uses it");
    const commands = async (): Promise<string[]> => ((await driver?.calls()) ?? []).map(([command = ""]) => command);
    assert.equal((await commands()).includes("detach"), false);
    // A kubelet that has only the state on disk.
    await made().removePodDirectory(podUid("uid-2"));
    assert.deepEqual(mountsBelow(root), []);
    assert.deepEqual(readdirSync(`${root}/plugins/kubernetes.io/flexvolume/test/disk/mounts`), []);
    const seen = [...new Set(await commands())];
    const all = [
      "init",
      "getvolumename",
      "attach",
      "waitforattach",
      "mountdevice",
      "mount",
      "unmount",
      "unmountdevice",
      "detach",
    ];
    assert.deepEqual(seen, all);
    assert.deepEqual((await driver?.calls())?.at(-1), ["detach", "data", "testnode"]);
  },
);
