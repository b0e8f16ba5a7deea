// Every kind of volume that the agent mounts; a new kind is one folder and one entry here. What needs the cluster is
// listed only on a node that joins one, and its code is loaded by the first pod that asks for it.
import type { ClusterAccess } from "../cluster/port.js";
import { emptyDirPlugin } from "./empty-dir/plugin.js";
import { hostPathPlugin } from "./host-path/plugin.js";
import { imagePlugin } from "./image/plugin.js";
import type { VolumePlugin } from "./plugin.js";
import type { VolumeManagerOptions } from "./volume-manager.js";

/** `cluster` is absent on a stand-alone node. */
export function volumePlugins(options: VolumeManagerOptions, cluster?: ClusterAccess): VolumePlugin[] {
  const local = [emptyDirPlugin({ ...options, ownership: options }), hostPathPlugin(), imagePlugin()];
  return cluster === undefined ? local : [...local];
}
