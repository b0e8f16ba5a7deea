// The CSI VolumeCapability of a volume: access mode, and mount or block.

import {
  VolumeCapability_AccessMode_Mode as Mode,
  type DeepPartial,
  type VolumeCapability,
} from "../../../shared/kubernetes/plugins/gen/csi.v1.js";
import { CAPABILITY } from "./node-port.js";

/** The first of the PV's access modes counts; ReadWriteOnce when it has none. */
export function accessMode(modes: readonly string[] | undefined, capabilities: ReadonlySet<number>): Mode {
  const fine = capabilities.has(CAPABILITY.SINGLE_NODE_MULTI_WRITER);
  switch (modes?.[0] ?? "ReadWriteOnce") {
    case "ReadWriteOnce":
      return fine ? Mode.SINGLE_NODE_MULTI_WRITER : Mode.SINGLE_NODE_WRITER;
    case "ReadWriteOncePod":
      return fine ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_WRITER;
    case "ReadOnlyMany":
      return Mode.MULTI_NODE_READER_ONLY;
    case "ReadWriteMany":
      return Mode.MULTI_NODE_MULTI_WRITER;
    default:
      return Mode.UNKNOWN;
  }
}

export function mountCapability(mode: Mode, mount: MountUse): DeepPartial<VolumeCapability> {
  const { fsType, mountFlags, group } = mount;
  const volumeMountGroup = group === undefined ? "" : String(group);
  return { mount: { fsType, mountFlags: [...mountFlags], volumeMountGroup }, accessMode: { mode } };
}

export interface MountUse {
  /** "": the driver's own. */
  fsType: string;
  mountFlags: readonly string[];
  /** For drivers that set the group of the volume themselves. */
  group: number | undefined;
}

export function blockCapability(mode: Mode): DeepPartial<VolumeCapability> {
  return { block: {}, accessMode: { mode } };
}
