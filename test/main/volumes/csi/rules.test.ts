// The tables of CSI: names, modes, groups, labels, waits; and a device that another kubelet takes over.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { nextDelay } from "../../../../src/main/volumes/csi/attach.js";
import { accessMode } from "../../../../src/main/volumes/csi/capability.js";
import { inlineVolume, persistentVolume } from "../../../../src/main/volumes/csi/csi-volume.js";
import { takesFsGroup } from "../../../../src/main/volumes/csi/mount-volume.js";
import { attachmentName, ephemeralHandle, stagingDirectory } from "../../../../src/main/volumes/csi/paths.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";
import { KeyedSerializer } from "../../../../src/shared/base/turns/keyed-serializer.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { csiKit, csiVolume, DRIVER, never, podOf } from "../../../support/csi/kit.js";
import { mountsBelow } from "../../../support/mounts.js";
import { until } from "../../../support/sources-kit.js";
import { isRoot } from "../temporary-root.js";

test("names of attachments and directories are upstream's", () => {
  // printf hdn | sha256sum; printf uidvol | sha256sum; printf h | sha256sum
  assert.equal(attachmentName("h", "d", "n"), "csi-9072ed11cc1acb5fa433a877ff339b6311d013f33bddd1d0092711a8ace5b16d");
  assert.equal(
    ephemeralHandle(podUid("uid"), "vol"),
    "csi-59a84980f8ef4826da54c7ced3605cf80e85f6bb08948be904a09383f8317b93",
  );
  assert.equal(
    stagingDirectory("/r", "d.csi", "h"),
    "/r/plugins/kubernetes.io/csi/d.csi/aaa9402664f1a41f40ebbc52c9993eb66aeb366602958fdfaa283b71e64db123",
  );
});

test("access modes become CSI's access modes", () => {
  const plain = new Set<number>();
  const fine = new Set([5]);
  const rows: [string[] | undefined, number, number][] = [
    [undefined, 1, 7],
    [["ReadWriteOnce"], 1, 7],
    [["ReadWriteOncePod"], 1, 6],
    [["ReadOnlyMany"], 3, 3],
    [["ReadWriteMany", "ReadWriteOnce"], 5, 5],
    [["Other"], 0, 0],
  ];
  for (const [modes, simple, multi] of rows) {
    assert.equal(accessMode(modes, plain), simple, String(modes));
    assert.equal(accessMode(modes, fine), multi, String(modes));
  }
});

test("volumes whose files get the group", () => {
  const volume = csiVolume({ fsType: "ext4" });
  assert.ok(takesFsGroup(undefined, volume));
  assert.ok(takesFsGroup({}, { ...volume, accessModes: ["ReadWriteMany", "ReadWriteOncePod"] }));
  assert.ok(!takesFsGroup({}, { ...volume, fsType: "" }));
  assert.ok(!takesFsGroup({}, { ...volume, accessModes: ["ReadWriteMany"] }));
  assert.ok(!takesFsGroup({ fsGroupPolicy: "None" }, volume));
  assert.ok(takesFsGroup({ fsGroupPolicy: "File" }, { ...volume, fsType: "", accessModes: ["ReadWriteMany"] }));
  assert.ok(!takesFsGroup({ fsGroupPolicy: "File" }, { ...volume, readOnly: true }));
});

test("looks for an attachment: soon at first, then ever slower, at least every seven seconds", () => {
  let delayMs = 100;
  const delays = Array.from({ length: 120 }, () => (delayMs = nextDelay(delayMs)));
  assert.deepEqual(delays.slice(0, 4), [200, 400, 500, 525]);
  assert.equal(delays.at(-1), 7000);
});

test("names that are paths are refused", () => {
  const csi = { driver: "d.csi", volumeHandle: "../../anything" };
  assert.equal(persistentVolume({ metadata: { name: "pv" }, spec: {} }, csi, false).handle, "../../anything");
  for (const [name, driver] of [
    ["..", "d.csi"],
    ["a..b", "d.csi"],
    ["pv", "../d"],
    ["pv", "a/b"],
    ["", "d"],
    ["pv", ""],
  ] as const) {
    assert.throws(() => persistentVolume({ metadata: { name }, spec: {} }, { ...csi, driver }, false), VolumeError);
  }
  assert.throws(() => inlineVolume(podOf("u"), { name: "v" }, { driver: "x/../y" }), VolumeError);
});

test("one at a time per key, in order; a failure ends nothing, and nothing is kept", async () => {
  const lock = new KeyedSerializer();
  const order: string[] = [];
  const step =
    (name: string, fails = false) =>
    async (): Promise<void> => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
      if (fails) throw new Error(name);
    };
  const results = await Promise.allSettled([
    lock.run("k", step("a", true)),
    lock.run("k", step("b"), AbortSignal.abort(new Error("gone"))),
    lock.run("k", step("c")),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected", "fulfilled"],
  );
  assert.deepEqual(order, ["a begins", "a ends", "c begins", "c ends"]);
});

test(
  "a device is taken over by the next kubelet, and undone by it",
  { skip: isRoot ? false : "needs root" },
  async (t) => {
    const { driver, volumes, restarted, root } = await csiKit(t);
    const request = { pod: podOf("u1"), volume: csiVolume(), signal: never };
    const place = await volumes.map(request);
    await volumes.stop();
    const next = restarted();
    await next.load();
    assert.deepEqual(next.inUse(), [`kubernetes.io/csi/${DRIVER}^vol-1`]);
    assert.deepEqual(await next.map(request), place);
    assert.deepEqual(driver.did(), ["NodeStageVolume", "NodePublishVolume"]);
    await until("nobody attaches it", () => next.inUse().length === 0);
    // As the other kind of agent holds it.
    const file = `${root}/plugins/kubernetes.io/csi/volumeDevices/publish/pv-1/u1`;
    execFileSync("losetup", ["--find", file]);
    await next.unmap(podUid("u1"), "pv-1");
    await next.idle();
    assert.deepEqual(driver.did().slice(2), ["NodeUnpublishVolume", "NodeUnstageVolume"]);
    assert.deepEqual(mountsBelow(root), []);
    assert.ok(!existsSync(`${root}/plugins/kubernetes.io/csi/volumeDevices/pv-1`));
  },
);
