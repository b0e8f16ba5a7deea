// Directories of a pod on the node's own disk, and its memory-backed volumes. Pure. Claims, network volumes and CSI
// volumes are not among them. Their plugins report usage, and a server that does not respond must not block a pool
// thread.

import { allContainersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { volumePath, etcHostsPath, containersDirectory } from "../../../shared/kubernetes/api/pod-paths.js";
import { type Pod } from "../../../shared/kubernetes/api/pod.js";

export interface PodTree {
  kind: "volume" | "log" | "other";
  /** Name of the volume or the container. */
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
  // Files of the kubelet that containers write to: /etc/hosts, and their termination messages, also of containers that
  // were removed.
  trees.push({ kind: "other", name: "", path: etcHostsPath(rootDir, uid), itself: true });
  trees.push({ kind: "other", name: "", path: containersDirectory(rootDir, uid), itself: false });
  return trees;
}
