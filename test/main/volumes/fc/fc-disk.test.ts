// Fibre Channel disks: where they are looked for, multipath, and one mount for all pods of a disk.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { DiskAttachError } from "../../../../src/main/volumes/disks/disk.js";
import { fcDisk, fcKind } from "../../../../src/main/volumes/fc/fc-disk.js";
import { fcVolumes } from "../../../../src/main/volumes/fc/plugin.js";
import { SELinuxMounts } from "../../../../src/main/volumes/se-linux-mounts.js";
import { VolumeError } from "../../../../src/main/volumes/volume-error.js";
import type { FCVolumeSource } from "../../../../src/shared/kubernetes/api/volume.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { silentLog } from "../../../support/silent.js";
import { diskKit } from "../disks/disk-kit.js";
import { isRoot, mountsBelow, never, podWith } from "../temporary-root.js";

const skip = isRoot ? false : "needs root";
const WWN = "50060e801049cfd1";

test("A disk is found by WWN and LUN or by WWID; the SCSI hosts scan when it has no multipath device", async (t) => {
  const { root, system } = await diskKit(t);
  await writeFile(`${root}/sda`, "");
  await writeFile(`${root}/sdb`, "");
  await mkdir(`${system.scsiHosts}/host0`);
  await symlink(`${root}/sda`, `${system.byPath}/pci-0000:41:00.0-fc-0x${WWN}-lun-1`);
  await symlink(`${root}/sda`, `${system.byPath}/pci-0000:41:00.0-fc-0x${WWN}-lun-10`);
  await symlink(`${root}/sdb`, `${system.byId}/scsi-VENDOR_77`);
  const find = (source: Parameters<typeof fcDisk>[0]): Promise<string> => fcDisk(source, system).attach("", never);
  assert.equal(await find({ targetWWNs: ["0000", WWN], lun: 1 }), `${root}/sda`);
  assert.equal(await readFile(`${system.scsiHosts}/host0/scan`, "utf8"), "- - -");
  assert.equal(await find({ wwids: ["VENDOR 77"] }), `${root}/sdb`);
  await assert.rejects(find({ targetWWNs: [WWN], lun: 0 }), DiskAttachError);
  await assert.rejects(find({ wwids: ["VENDOR"] }), /no fc disk found for VENDOR: check the zoning/);
  // A multipath device over the disk wins.
  await mkdir(`${system.sysBlock}/dm-3/slaves/sda`, { recursive: true });
  await mkdir(`${system.sysBlock}/dm-3/dm`);
  await writeFile(`${system.sysBlock}/dm-3/dm/uuid`, "LVM-x");
  assert.equal(await find({ targetWWNs: [WWN], lun: 1 }), `${root}/sda`);
  await writeFile(`${system.sysBlock}/dm-3/dm/uuid`, "mpath-3600");
  assert.equal(await find({ targetWWNs: [WWN], lun: 1 }), "/dev/dm-3");
});

test("Names and directories are upstream's; a source without a disk is refused", async (t) => {
  const { system } = await diskKit(t);
  const kind = fcKind(system, silentLog);
  const rows: [FCVolumeSource, string, string][] = [
    [{ targetWWNs: ["a1", "b2"], lun: 0 }, "a1-b2-lun-0", "[a1 b2]:0"],
    [{ wwids: ["3600"] }, "3600", "[3600]"],
  ];
  for (const [source, place, name] of rows) {
    const disk = fcDisk(source, system);
    assert.deepEqual([disk.place, disk.uniqueName, kind.uniqueNameOf(place)], [place, name, name]);
  }
  assert.equal(kind.uniqueNameOf("volumeDevices"), undefined);
  for (const source of [{}, { targetWWNs: ["a"] }, { targetWWNs: ["../x"], lun: 0 }, { wwids: ["a/b"] }, { lun: 1 }]) {
    assert.throws(() => fcDisk(source, system), VolumeError, JSON.stringify(source));
  }
});

test(
  "Two pods of one disk: formatted and mounted once, unmounted after the last, also by the next kubelet",
  { skip },
  async (t) => {
    const { root, system, disks, attachments, device } = await diskKit(t);
    const path = device("disk");
    if (path === undefined) return;
    await symlink(path, `${system.byPath}/fc-0x${WWN}-lun-4`);
    const volumes = await fcVolumes(disks, system);
    const source = { targetWWNs: [WWN], lun: 4, fsType: "ext4" };
    const common = {
      source,
      readOnly: false,
      mountOptions: ["noatime"],
      accessModes: [],
      podVolume: "data",
      signal: never,
    };
    const first = await volumes.setUp({ ...common, pod: podWith([]), name: "one" });
    const second = await volumes.setUp({ ...common, pod: podWith([], {}, "uid-2"), name: "two" });
    const global = `${root}/plugins/kubernetes.io/fc/${WWN}-lun-4`;
    assert.deepEqual(attachments.inUse(), [`kubernetes.io/fc/[${WWN}]:4`]);
    assert.equal(first.hostPath, `${root}/pods/uid-1/volumes/kubernetes.io~fc/one`);
    await writeFile(`${first.hostPath}/file`, "shared");
    assert.equal(readFileSync(`${second.hostPath}/file`, "utf8"), "shared");
    await volumes.tearDown(podUid("uid-1"), "one");
    assert.ok(mountsBelow(root).includes(global), "the other pod uses it");
    const next = await fcVolumes(disks, system);
    await next.tearDown(podUid("uid-2"), "two");
    assert.deepEqual(mountsBelow(root), []);
    assert.equal(existsSync(global), false);
    assert.deepEqual(attachments.inUse(), []);
  },
);

test(
  "A kubelet that was killed between the pod's unmount and the disk's: the next one unmounts the disk",
  { skip },
  async (t) => {
    const { root, system, disks, attachments, device } = await diskKit(t);
    const path = device("disk");
    if (path === undefined) return;
    await symlink(path, `${system.byPath}/fc-0x${WWN}-lun-4`);
    const source = { targetWWNs: [WWN], lun: 4 };
    const request = {
      source,
      readOnly: false,
      mountOptions: [],
      accessModes: [],
      podVolume: "data",
      signal: never,
      pod: podWith([]),
      name: "one",
    };
    const { hostPath } = await (await fcVolumes(disks, system)).setUp(request);
    execFileSync("umount", [hostPath]);
    const next = await fcVolumes(disks, system);
    await next.stop();
    await (await fcVolumes(disks, system)).tearDown(podUid("uid-1"), "one");
    assert.deepEqual(mountsBelow(root), []);
    assert.deepEqual(readdirSync(`${root}/plugins/kubernetes.io/fc`), []);
    assert.deepEqual(attachments.inUse(), []);
  },
);

test(
  "A persistent volume for one pod is mounted with the pod's SELinux label, and not relabelled",
  { skip },
  async (t) => {
    const { system, disks, device } = await diskKit(t);
    const path = device("disk");
    if (path === undefined) return;
    await symlink(path, `${system.byPath}/fc-0x${WWN}-lun-4`);
    const files = { user: "system_u", role: "object_r", type: "container_file_t" };
    const seLinux = new SELinuxMounts(files, false, new ThreadRegistry("t"));
    const volumes = await fcVolumes({ ...disks, seLinux }, system);
    const source = { targetWWNs: [WWN], lun: 4 };
    const pod = podWith([], { securityContext: { seLinuxOptions: { level: "s0:c1,c2" } } });
    const asked = {
      source,
      readOnly: false,
      mountOptions: ["noatime"],
      podVolume: "data",
      signal: never,
      pod,
      name: "one",
    };
    const mounted = volumes.setUp({ ...asked, accessModes: ["ReadWriteOncePod"] });
    // This kernel may have no SELinux, and then refuses the option.
    const context = 'context="system_u:object_r:container_file_t:s0:c1,c2"';
    const place = await mounted.catch((error: unknown) => String(error));
    if (typeof place === "string") assert.ok(place.includes(`rw,defaults,noatime,${context}`), place);
    else assert.equal(place.relabel, undefined);
    await volumes.tearDown(podUid("uid-1"), "one");
    const shared = await volumes.setUp({ ...asked, accessModes: ["ReadWriteOnce"] });
    assert.equal(shared.hostPath.endsWith("/one"), true);
    await volumes.tearDown(podUid("uid-1"), "one");
  },
);
