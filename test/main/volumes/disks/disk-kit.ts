// Network disks of a temporary node: a loop device, and directories in place of those in which the system shows disks.

import { mkdir } from "node:fs/promises";
import type { TestContext } from "node:test";
import { NodeAttachments } from "../../../../src/main/volumes/attachments/node-attachments.js";
import type { DiskVolumesOptions } from "../../../../src/main/volumes/disks/disk-volumes.js";
import type { DiskSystem } from "../../../../src/main/volumes/disks/disk.js";
import { loopDevice } from "../../../support/loop-device.js";
import { keptEvents, options, temporaryRoot } from "../temporary-root.js";

const SIZE = 16 << 20;

export interface DiskKit {
  root: string;
  system: DiskSystem;
  attachments: NodeAttachments;
  disks: DiskVolumesOptions;
  /** Makes the attachments of another kubelet process. */
  newAttachments: () => NodeAttachments;
  device: (name: string) => string | undefined;
}

export async function diskKit(t: TestContext): Promise<DiskKit> {
  const root = await temporaryRoot(t);
  const system = {
    byPath: `${root}/by-path`,
    byId: `${root}/by-id`,
    sysBlock: `${root}/block`,
    scsiHosts: `${root}/class/scsi_host`,
  };
  for (const directory of Object.values(system)) await mkdir(directory, { recursive: true });
  const base = { ...options(root), events: keptEvents() };
  const { clock, log, nodeName } = base;
  const newAttachments = (): NodeAttachments =>
    new NodeAttachments({ nodeName, clock, controllerAttaches: false, onInUse: () => undefined });
  const attachments = newAttachments();
  return {
    newAttachments,
    ...{ root, system, attachments },
    disks: { rootDir: root, attachments, ownership: base, seLinux: undefined, log },
    device(name) {
      const device = loopDevice(`${root}/${name}`, SIZE);
      // Mounts are unmounted by then: after hooks run in the order in which they were added.
      if (device !== undefined) t.after(() => device.detach());
      if (device === undefined) t.diagnostic("no loop device can be had here");
      return device?.path;
    },
  };
}
