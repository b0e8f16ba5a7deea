// The sub-paths of volumes that a container mounts, opened or made on the node before the container is created.

import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import { SubPathError } from "../../../shared/node/volume-calls/errors.js";
import { CreateContainerConfigError } from "../../model/container-config-error.js";
import { ExpansionBudget } from "../../model/expand.js";
import { isDevicePlace, isImagePlace, type VolumePlace } from "../../volumes/place.js";
import { subPathProblem, volumeSubPath } from "./config/mounts.js";
import type { NodeRuntime } from "./node-runtime.js";

export interface SubPathSources {
  /** The container's variables, for subPathExpr. */
  environment: ReadonlyMap<string, string>;
  volumes: ReadonlyMap<string, VolumePlace>;
}

/**
 * Returns index in volumeMounts to sub-path: a host path, or a path within an image.
 * @throws CreateContainerConfigError, VolumeError
 */
export async function preparedSubPaths(
  runtime: Pick<NodeRuntime, "volumes" | "log">,
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
    try {
      const made = await runtime.volumes.prepareSubPath({ ...place, volumePath: root.hostPath, subPath, signal });
      subPaths.set(index, made);
    } catch (error) {
      if (!(error instanceof SubPathError)) throw error;
      // The event has upstream's text, which is the same at each try.
      runtime.log.warn({ err: error, uid: pod.metadata.uid, container: container.name }, error.message);
      throw new CreateContainerConfigError(subPathProblem(mount, container), { cause: error });
    }
  }
  return subPaths;
}
