// The sub-paths of volumes that a container mounts, opened or made on the node before the container is created.

import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { ExpansionBudget } from "../../model/expand.js";
import { isDevicePlace, isImagePlace, type VolumePlace } from "../../volumes/place.js";
import { volumeSubPath } from "./config/mounts.js";
import type { NodeRuntime } from "./node-runtime.js";

export interface SubPathSources {
  /** The container's variables, for subPathExpr. */
  environment: ReadonlyMap<string, string>;
  volumes: ReadonlyMap<string, VolumePlace>;
}

/**
 * Returns index in volumeMounts to sub-path: a host path, or a path within an image.
 * @throws CreateContainerConfigError, SubPathError, VolumeError
 */
export async function preparedSubPaths(
  runtime: Pick<NodeRuntime, "volumes">,
  pod: Pod,
  container: Container,
  { environment, volumes }: SubPathSources,
  signal: AbortSignal,
): Promise<Map<number, string>> {
  const subPaths = new Map<number, string>();
  const budget = new ExpansionBudget();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const subPath = volumeSubPath(mount, environment, budget);
    const root = volumes.get(mount.name);
    if (subPath === undefined || root === undefined) continue;
    if (isImagePlace(root)) {
      subPaths.set(index, subPath);
      continue;
    }
    // A device has no sub-paths: containerMounts() reports that.
    if (isDevicePlace(root)) continue;
    const place = { podUid: pod.metadata.uid, volume: root.volumeName ?? mount.name, container: container.name, index };
    subPaths.set(index, await runtime.volumes.prepareSubPath({ ...place, volumePath: root.hostPath, subPath, signal }));
  }
  return subPaths;
}
