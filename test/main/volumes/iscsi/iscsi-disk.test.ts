// iSCSI disks, with a stand-in for iscsiadm: logins, secrets, the file that upstream reads, and when the node logs out.
// @promise Volumes: CHAP secrets and secrets of flexVolumes are in no log.
// @with test/cluster/in-tree-volumes.test.ts

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { Iscsiadm, readIface } from "../../../../src/main/volumes/iscsi/iscsiadm.js";
import { iscsiVolumes } from "../../../../src/main/volumes/iscsi/plugin.js";
import {
  placeOf,
  readTarget,
  targetOf,
  targetOfPlace,
  writeTarget,
} from "../../../../src/main/volumes/iscsi/target.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { iscsiTarget } from "../../../support/iscsi-target.js";
import { diskKit } from "../disks/disk-kit.js";
import { isRoot, mountsBelow, never, podWith, temporaryRoot } from "../temporary-root.js";

const skip = isRoot ? false : "needs root";
const IQN = "iqn.2026-11.test.nodelet:disks";
const PORTAL = "10.1.2.3:3260";

async function world(t: TestContext) {
  const kit = await diskKit(t);
  const [zero, one] = [kit.device("zero"), kit.device("one")];
  if (zero === undefined || one === undefined) return undefined;
  const { byPath } = kit.system;
  const target = await iscsiTarget(`${kit.root}/target`, { iqn: IQN, luns: { 0: zero, 1: one }, byPath });
  const made = (attachments = kit.attachments) =>
    iscsiVolumes({ ...kit.disks, attachments }, { system: kit.system, program: target.program });
  const request = (name: string, lun: number, source = {}, uid = "uid-1") => ({
    source: { targetPortal: "10.1.2.3", iqn: IQN, lun, fsType: "ext4", ...source },
    ...{
      pod: podWith([], {}, uid),
      name,
      readOnly: false,
      mountOptions: [],
      accessModes: [],
      podVolume: "data",
      signal: never,
    },
  });
  return { ...kit, target, made, request };
}

test(
  "Two LUNs of a target: one session, ended after the last mount of both, also by the next kubelet",
  { skip },
  async (t) => {
    const kit = await world(t);
    if (kit === undefined) return;
    const { root, target, made, request, attachments, newAttachments } = kit;
    const volumes = await made();
    const place = await volumes.setUp(request("zero", 0));
    await volumes.setUp(request("one", 1));
    const again = await volumes.setUp(request("also-zero", 0, {}, "uid-2"));
    const global = `${root}/plugins/kubernetes.io/iscsi/iface-default/${PORTAL}-${IQN}-lun-`;
    assert.deepEqual(
      ["0", "1"].map((lun) => mountsBelow(root).includes(global + lun)),
      [true, true],
    );
    assert.deepEqual(
      attachments.inUse(),
      [0, 1].map((lun) => `kubernetes.io/iscsi/10.1.2.3:${IQN}:${lun}`),
    );
    assert.notEqual(place.hostPath, again.hostPath);
    await volumes.tearDown(podUid("uid-1"), "zero");
    await volumes.tearDown(podUid("uid-2"), "also-zero");
    assert.deepEqual(await target.sessions(), [`${PORTAL}|default`], "the other LUN is mounted");
    assert.equal(existsSync(`${global}0`), false);
    const ofNext = newAttachments();
    const next = await made(ofNext);
    assert.deepEqual(ofNext.inUse(), [`kubernetes.io/iscsi/${PORTAL}:${IQN}:1`]);
    await next.tearDown(podUid("uid-1"), "one");
    assert.deepEqual(await target.sessions(), []);
    assert.deepEqual(mountsBelow(root), []);
    assert.deepEqual(ofNext.inUse(), []);
  },
);

test(
  "An interface of the volume's own: made with the initiator's name, deleted after the logout",
  { skip },
  async (t) => {
    const kit = await world(t);
    if (kit === undefined) return;
    const { root, target, made, request } = kit;
    const volumes = await made();
    const initiatorName = "iqn.2026-11.test.nodelet:me";
    await volumes.setUp(request("zero", 0, { initiatorName }));
    assert.deepEqual(await target.ifaces(), [`${PORTAL}:zero`]);
    const named = `-m iface -I ${PORTAL}:zero -o update -n iface.initiatorname -v ${initiatorName}`;
    assert.ok((await target.calls()).includes(named));
    assert.ok(mountsBelow(`${root}/plugins/kubernetes.io/iscsi/iface-${PORTAL}:zero`).length > 0);
    await volumes.tearDown(podUid("uid-1"), "zero");
    assert.deepEqual([await target.sessions(), await target.ifaces()], [[], []]);
  },
);

test(
  "As a block device: a link for each pod, held open; the session stays for a LUN that is mounted",
  { skip },
  async (t) => {
    const kit = await world(t);
    if (kit === undefined) return;
    const { root, target, made, request, newAttachments } = kit;
    const volumes = await made();
    const mounted = await volumes.setUp(request("zero", 0));
    const place = await volumes.map(request("one", 1));
    await volumes.map(request("one-too", 1, {}, "uid-2"));
    assert.equal(place.devicePath, `${root}/pods/uid-1/volumeDevices/kubernetes.io~iscsi/one`);
    const device = readlinkSync(place.devicePath);
    const holders = (): string[] =>
      readdirSync("/sys/block").filter((name) => {
        const file = `/sys/block/${name}/loop/backing_file`;
        return existsSync(file) && readFileSync(file, "utf8").trimEnd() === device;
      });
    assert.equal(holders().length, 1);
    await volumes.unmap(podUid("uid-1"), "one");
    assert.equal(holders().length, 1, "the other pod has it");
    const ofNext = newAttachments();
    const next = await made(ofNext);
    assert.deepEqual(await next.map(request("one-too", 1, {}, "uid-2")), {
      devicePath: `${root}/pods/uid-2/volumeDevices/kubernetes.io~iscsi/one-too`,
      volumeName: "one-too",
      readOnly: undefined,
    });
    await next.unmap(podUid("uid-2"), "one-too");
    assert.deepEqual(
      [holders(), existsSync(`${root}/plugins/kubernetes.io/iscsi/volumeDevices/iface-default`)],
      [[], true],
    );
    assert.deepEqual(readdirSync(`${root}/plugins/kubernetes.io/iscsi/volumeDevices/iface-default`), []);
    assert.deepEqual(await target.sessions(), [`${PORTAL}|default`], "the other LUN is mounted");
    assert.ok(mountsBelow(mounted.hostPath).length > 0);
    await next.tearDown(podUid("uid-1"), "zero");
    assert.deepEqual([await target.sessions(), mountsBelow(root), ofNext.inUse()], [[], [], []]);
  },
);

test("The error names a portal that refuses; one other portal is enough", { skip }, async (t) => {
  const kit = await world(t);
  if (kit === undefined) return;
  const { root, target, made, request, attachments } = kit;
  const volumes = await made();
  await target.refuse("10.9.9.9:3260");
  const message =
    /failed to get any path for iscsi disk.*discover targets at portal 10.9.9.9:3260.*connection timed out/;
  await assert.rejects(volumes.setUp(request("zero", 0, { targetPortal: "10.9.9.9" })), message);
  assert.deepEqual([mountsBelow(root), attachments.inUse()], [[], []]);
});

test("CHAP secrets go to iscsiadm before discovery and login, and into no message", async (t) => {
  const root = await temporaryRoot(t);
  const target = await iscsiTarget(root, { iqn: IQN, luns: {}, byPath: `${root}/by-path` });
  const admin = new Iscsiadm(systemClock, target.program);
  const secret = {
    "discovery.sendtargets.auth.username": "finder",
    "discovery.sendtargets.auth.password": "s3cret",
    "node.session.auth.username": "user",
    "node.session.auth.password": "s3cret",
  };
  const session = { portal: PORTAL, iqn: IQN, iface: "default" };
  await admin.login(session, { discovery: true, session: true, secret }, never);
  const words = (await target.calls()).map((call) => /--\w+$|-n .*$|-o new$/.exec(call)?.[0]);
  assert.deepEqual(words, [
    "-o new",
    "-n discovery.sendtargets.auth.authmethod -v CHAP",
    "-n discovery.sendtargets.auth.username -v finder",
    "-n discovery.sendtargets.auth.password -v s3cret",
    "--discover",
    "-n node.session.auth.authmethod -v CHAP",
    "-n node.session.auth.username -v user",
    "-n node.session.auth.password -v s3cret",
    "--login",
    "-n node.startup -v manual",
  ]);
  // A session that exists is as good as a new one.
  await admin.login(session, { discovery: false, session: false, secret }, never);
  const missing = new Iscsiadm(systemClock, `${root}/none`);
  await assert.rejects(
    missing.login(session, { discovery: true, session: false, secret }, never),
    (error: Error) => /install open-iscsi on this node/.test(error.message) && !error.message.includes("s3cret"),
  );
});

test("Targets and their directories are upstream's; words that would lead elsewhere are refused", async (t) => {
  const root = await temporaryRoot(t);
  const source = { targetPortal: "10.1.2.3", portals: ["10.1.2.4:99", "10.1.2.3"], iqn: IQN, lun: 2 };
  const target = targetOf(source, "vol");
  assert.deepEqual(target.portals, ["10.1.2.3:3260", "10.1.2.4:99"]);
  assert.equal(placeOf(target), `iface-default/${PORTAL}-${IQN}-lun-2`);
  assert.deepEqual(targetOf({ ...source, targetPortal: "[fd00::1]" }, "v").portals[0], "[fd00::1]:3260");
  await writeTarget(root, target);
  assert.deepEqual(JSON.parse(readFileSync(`${root}/iscsi.json`, "utf8")), {
    ...{ VolName: "vol", Portals: target.portals, Iqn: IQN, Lun: "2", Iface: "default", InitiatorName: "" },
  });
  assert.deepEqual(await readTarget(root), target);
  assert.deepEqual(targetOfPlace(placeOf(target)), { ...target, portals: [PORTAL], volume: "" });
  assert.equal(targetOfPlace("volumeDevices/x"), undefined);
  for (const wrong of [
    { iqn: "../../etc" },
    { targetPortal: "a/b" },
    { targetPortal: "-x" },
    { iscsiInterface: "a/../b" },
    { lun: 256 },
    { initiatorName: "-v" },
  ]) {
    assert.throws(() => targetOf({ ...source, ...wrong }, "vol"), VolumeError, JSON.stringify(wrong));
  }
});

test("Parameters of an interface: those without a value are left out", () => {
  const text = "# BEGIN\niface.a = 1\niface.b = <empty>\nother = 2\niface.c = x = y\niface.broken\n# END";
  assert.deepEqual(
    [...readIface(text)],
    [
      ["iface.a", "1"],
      ["iface.c", "x = y"],
    ],
  );
});
