// Where a pod has something on the node's own disk, or in memory under its volumes. Pure. Claims, network volumes and drivers' volumes
// are not among them: they are asked where they are, and a server that is silent must not keep a pool thread.
import type { Pod } from "../../shared/api/pod.js";
import { volumePath } from "../../shared/stats/volume-paths.js";
import { allContainersOf } from "../../shared/api/pod-containers.js";

export interface PodTree {
  kind: "volume" | "log" | "other";
  /** Of the volume or the container. */
  name: string;
  path: string;
  /** Does the root itself count? */
  itself: boolean;
}

export interface DiskPlaces {
  rootDir: string;
  podLogsDir: string;
}

export function podTrees({ metadata, spec }: Pod, { rootDir, podLogsDir }: DiskPlaces): PodTree[] {
  const { namespace, name: podName, uid } = metadata;
  const logs = `${podLogsDir}/${namespace}_${podName}_${uid}`;
  const trees: PodTree[] = [];
  for (const volume of spec.volumes ?? []) {
    const { name, nfs, csi } = volume;
    const path = nfs === undefined && csi === undefined ? volumePath(rootDir, uid, volume) : undefined;
    if (path !== undefined) trees.push({ kind: "volume", name, path, itself: true });
  }
  for (const { name } of allContainersOf(spec)) {
    trees.push({ kind: "log", name, path: `${logs}/${name}`, itself: false });
  }
  trees.push({ kind: "other", name: "", path: `${rootDir}/pods/${uid}/etc-hosts`, itself: true });
  return trees;
}
