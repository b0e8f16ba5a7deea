// Network disks on a stand-alone node.

import { NodeAttachments } from "../attachments/node-attachments.js";
import type { VolumeManagerOptions } from "../volume-manager-options.js";
import type { DiskVolumesOptions } from "./disk-volumes.js";

/** No controller attaches. */
export function standaloneDisks(options: VolumeManagerOptions): DiskVolumesOptions {
  const { rootDir, nodeName, clock, log } = options;
  const attachments = new NodeAttachments({ nodeName, clock, controllerAttaches: false, onInUse: () => undefined });
  return { rootDir, attachments, ownership: options, seLinux: undefined, log };
}
