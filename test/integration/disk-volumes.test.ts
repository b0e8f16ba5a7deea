// Network disks of static pods on real containerd: real file systems on loop devices. The iSCSI target is a stand-in
// for iscsiadm, which needs modules of the kernel; the Fibre Channel disk is a link where udev would make it.
// @promise Volumes: iSCSI and Fibre Channel disks are mounted once per node and bound to pods, or are their block
//   devices; they are detached after the last use and only then, also by the next kubelet; a session ends with the last
//   LUN of its target (stand-in for iscsiadm, loop devices).
// @with test/main/volumes/iscsi, test/main/volumes/fc, test/cluster/in-tree-volumes.test.ts

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Volume } from "../../src/shared/kubernetes/api/volume.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { BY_PATH, byPathLinks, type ByPathLinks } from "../support/by-path.js";
import { iscsiTarget, type IscsiTestTarget } from "../support/iscsi-target.js";
import { loopDevice, type LoopDevice } from "../support/loop-device.js";
import { mountsBelow } from "../support/mounts.js";
import { IDLE, manifest, PATIENCE_MS, report, reporter, shell, statusOf, waitForPod } from "../support/static-pods.js";

const WWN = `5006${process.pid.toString(16).padStart(12, "0")}`;
const IQN = `iqn.2026-11.test.nodelet:p${process.pid}`;
const PORTAL = "10.255.255.1";
const volumeMounts = [{ name: "data", mountPath: "/data" }];

let node: TestNode;
let home: string;
let links: ByPathLinks;
let target: IscsiTestTarget;
const devices: LoopDevice[] = [];

before(async () => {
  home = await mkdtemp(join(tmpdir(), "nodelet-disks-"));
  links = byPathLinks();
  for (const name of ["iscsi", "fc"]) {
    const device = loopDevice(join(home, name), 16 << 20);
    if (device !== undefined) devices.push(device);
  }
  const [iscsi, fc] = devices;
  target = await iscsiTarget(join(home, "target"), { iqn: IQN, luns: { 1: iscsi?.path ?? "" }, byPath: BY_PATH });
  await links.link(`pci-0000:41:00.0-fc-0x${WWN}-lun-2`, fc?.path ?? "");
  node = await startNode({ env: { PATH: `${dirname(target.program)}:${process.env["PATH"] ?? ""}` } });
});
after(async () => {
  await node.stop();
  await links.clear(WWN, IQN);
  for (const device of devices) device.detach();
  await rm(home, { recursive: true });
});

const placesOf = (word: string): string[] => mountsBelow(node.kubelet.rootDir).filter((place) => place.includes(word));
const unmounted = (word: string): Promise<unknown> =>
  waitFor(() => Promise.resolve(placesOf(word).length === 0), { what: `${word} unmounted`, timeoutMs: 60_000 });
const app = (script: string) => shell("app", script, { volumeMounts });
const isRunning = (name: string) =>
  waitForPod(node, name, (view) => statusOf(view, "app")?.state.running !== undefined, "running");

test("iSCSI: login, ext4 in the container, logout by the kubelet that follows a killed one", async (t) => {
  if (devices.length < 2) {
    t.diagnostic("no loop device can be had here");
    return;
  }
  const volumes: Volume[] = [{ name: "data", iscsi: { targetPortal: PORTAL, iqn: IQN, lun: 1, fsType: "ext4" } }];
  const reading = reporter("app", "echo TYPE=$(grep ' /data ' /proc/mounts | cut -d' ' -f3); echo a > /data/a", {
    volumeMounts,
  });
  await node.writeManifest("iscsi", manifest("iscsi", [reading], { spec: { volumes } }));
  assert.deepEqual(await report(node, "iscsi", "app"), ["TYPE=ext4"]);
  assert.deepEqual(await target.sessions(), [`${PORTAL}:3260|default`]);
  assert.ok(placesOf(`iface-default/${PORTAL}:3260-${IQN}-lun-1`).length === 1, placesOf("iscsi").join("\n"));
  await node.kill9();
  await node.removeManifest("iscsi");
  await node.restart();
  await unmounted("iscsi");
  await waitFor(async () => (await target.sessions()).length === 0, { what: "the logout", timeoutMs: 60_000 });
});

test("Fibre Channel: two pods of one disk share its file system; it is unmounted after the last", async (t) => {
  if (devices.length < 2) {
    t.diagnostic("no loop device can be had here");
    return;
  }
  const volumes: Volume[] = [{ name: "data", fc: { targetWWNs: [WWN], lun: 2, fsType: "ext4" } }];
  await node.writeManifest(
    "writer",
    manifest("writer", [app(`echo shared > /data/file; ${IDLE}`)], { spec: { volumes } }),
  );
  await isRunning("writer");
  const reading = "until [ -s /data/file ]; do sleep 0.1; done; cat /data/file";
  await node.writeManifest(
    "reader",
    manifest("reader", [reporter("app", reading, { volumeMounts })], { spec: { volumes } }),
  );
  assert.deepEqual(await report(node, "reader", "app"), ["shared"]);
  assert.equal(placesOf("kubernetes.io~fc").length, 2);
  await node.removeManifest("writer");
  await waitFor(() => Promise.resolve(placesOf("kubernetes.io~fc").length === 1), {
    what: "one pod",
    timeoutMs: 60_000,
  });
  assert.equal(placesOf(`plugins/kubernetes.io/fc/${WWN}-lun-2`).length, 1);
  await node.removeManifest("reader");
  await unmounted("/fc");
  const counted =
    /storage_operation_duration_seconds_count\{[^}]*operation_name="unmount_device"[^}]*volume_plugin="kubernetes.io\/fc"[^}]*\} [1-9]/;
  await waitFor(async () => counted.test(await (await fetch(`${node.kubelet.url}/metrics`)).text()), {
    what: "the unmounted device to be counted",
    timeoutMs: PATIENCE_MS,
  });
});

test("a missing disk: the event names the remedy, and other pods start", async () => {
  const volumes: Volume[] = [{ name: "data", fc: { targetWWNs: [WWN], lun: 9 } }];
  await node.writeManifest("missing", manifest("missing", [app(IDLE)], { spec: { volumes } }));
  const text = `no fc disk found for ${WWN} LUN 9: check the zoning`;
  const log = (): Promise<string> => readFile(node.kubelet.log, "utf8");
  await waitFor(async () => (await log()).includes(text), { what: "the event", timeoutMs: PATIENCE_MS });
  await node.writeManifest("beside", manifest("beside", [shell("app", IDLE, {})]));
  await isRunning("beside");
  await node.removeManifest("missing");
});
