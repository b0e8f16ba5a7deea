// subPath mounts. A container may have written that part of the volume. So it is bind-mounted to a place that only the
// kubelet can change.
// Invariant: the runtime never resolves a path that a container controls.

import { mkdir } from "node:fs/promises";
import { pathElement } from "../../shared/kubernetes/api/path-element.js";
import { subPathsDirectory } from "../../shared/kubernetes/api/pod-paths.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { VolumeCalls } from "../../shared/node/volume-calls/volume-calls.js";
import { isMountPoint, unmount } from "./mounts.js";
import { POD_DIRECTORY_MODE } from "./paths.js";

export interface SubPathRequest {
  podUid: PodUid;
  volume: string;
  container: string;
  /** Position in the container's volumeMounts. */
  index: number;
  /** The volume's host path. */
  volumePath: string;
  /** Relative, without "..". */
  subPath: string;
  signal: AbortSignal;
}

/**
 * Resolves to the host path to give to the runtime. A missing sub path is made as a directory with the volume's
 * permissions. Idempotent. @throws SubPathError, VolumeError, VolumeNotAnsweringError, ProgramError
 */
export async function prepareSubPath(
  { rootDir, calls }: { rootDir: string; calls: VolumeCalls },
  request: SubPathRequest,
): Promise<string> {
  const { podUid, volume, container, index, volumePath, subPath, signal } = request;
  const parent = `${subPathsDirectory(rootDir, podUid)}/${pathElement(volume)}/${pathElement(container)}`;
  const target = `${parent}/${index}`;
  const bind = (mounted: boolean): Promise<"bound" | "other"> => {
    signal.throwIfAborted();
    const places = { paths: [volumePath, ...(mounted ? [target] : [])], below: true };
    return calls.call("bindSubPath", { volumePath, subPath, target, mounted }, places, signal);
  };
  await mkdir(parent, { recursive: true, mode: POD_DIRECTORY_MODE });
  if ((await bind(await isMountPoint(target))) === "bound") return target;
  await unmount(podUid, target);
  await bind(false);
  return target;
}
