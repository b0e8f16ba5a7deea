// Image volumes of a container. Their images are pulled like the container's own; the runtime mounts them by the
// resolved reference. A runtime without support treats such a mount as a host path without a name.

import type { Container, Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ContainerConfig, PodSandboxConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { isImagePlace, type VolumePlace } from "../../volumes/place.js";
import type { NodeRuntime } from "./node-runtime.js";

/** Volume name to the runtime's reference. Rejects as the fetching of a container's image does. */
export async function fetchImageVolumes(
  runtime: NodeRuntime,
  pod: Pod,
  container: Container,
  volumes: ReadonlyMap<string, VolumePlace>,
  sandbox: PodSandboxConfig,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const fetched = new Map<string, string>();
  for (const name of new Set((container.volumeMounts ?? []).map((mount) => mount.name))) {
    const place = volumes.get(name);
    if (place === undefined || !isImagePlace(place)) continue;
    const { imageRef } = await runtime.images.ensureVolume(pod, { name, image: place.image }, sandbox, signal);
    fetched.set(name, imageRef);
  }
  return fetched;
}

export function imageMountCount({ mounts }: ContainerConfig): number {
  return mounts.filter(({ image }) => image !== undefined).length;
}

/** The errors of containerd before 2.1 and CRI-O before 1.31: they create, or look for, the host path "". */
const NO_HOST_PATH = /failed to mkdir "":|stat "": |stat : no such file|mkdir : no such file|host ?path is empty/i;

/** The runtime's refusal of a container, with the remedy if its image mounts are the cause. */
export function explainRefusal(config: ContainerConfig, details: string): string {
  const mount = config.mounts.find(({ image }) => image !== undefined);
  if (mount === undefined || !NO_HOST_PATH.test(details)) return details;
  return (
    `the container runtime cannot mount images, as ${mount.containerPath} of container ${config.metadata?.name ?? ""} ` +
    `needs it to: containerd 2.1 or CRI-O 1.31 and later can (its error: ${details})`
  );
}
