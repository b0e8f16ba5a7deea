// Where a pod's volumes are below the root directory, as main lays them out; undefined: nothing of the node's own to measure.
import type { Volume } from "../api/volume.js";

const PLUGINS: readonly (readonly [source: string, plugin: string])[] = [
  ["emptyDir", "empty-dir"],
  ["configMap", "configmap"],
  ["secret", "secret"],
  ["downwardAPI", "downward-api"],
  ["projected", "projected"],
  ["nfs", "nfs"],
];

export function volumePath(rootDir: string, podUid: string, volume: Volume): string | undefined {
  const below = `${rootDir}/pods/${podUid}/volumes`;
  if (volume.csi !== undefined) return `${below}/kubernetes.io~csi/${volume.name}/mount`;
  const plugin = PLUGINS.find(([source]) => volume[source] !== undefined)?.[1];
  return plugin === undefined ? undefined : `${below}/kubernetes.io~${plugin}/${volume.name}`;
}

/** The claim behind a volume. */
export function claimOf(podName: string, volume: Volume): string | undefined {
  if (volume.ephemeral !== undefined) return `${podName}-${volume.name}`;
  return volume.persistentVolumeClaim?.claimName;
}
