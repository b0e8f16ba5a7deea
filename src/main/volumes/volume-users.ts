// Which containers of a pod use which of its volumes. A pod may have thousands of volumes and mounts. So the lists are
// read once per definition, not once per volume. Invariant: a pod's definition does not change; another one is another
// object.

import { perSpec } from "../../shared/kubernetes/api/per-spec.js";
import type { Container, PodSpec } from "../../shared/kubernetes/api/pod.js";

export interface VolumeUsers {
  /** Containers with volumeMounts of the volume: ordinary ones, then init and ephemeral ones. */
  mounts: Container[];
  /** Containers with volumeDevices of the volume, in that order. */
  devices: Container[];
}

const NOT_USED: VolumeUsers = { mounts: [], devices: [] };

export function usersOfVolume(spec: PodSpec, volume: string): VolumeUsers {
  return usersByVolume(spec).get(volume) ?? NOT_USED;
}

const usersByVolume = perSpec(read);

function read({ containers, initContainers = [], ephemeralContainers = [] }: PodSpec): Map<string, VolumeUsers> {
  const users = new Map<string, VolumeUsers>();
  const add = (container: Container, kind: keyof VolumeUsers, { name }: { name: string }): void => {
    const own = users.get(name) ?? { mounts: [], devices: [] };
    users.set(name, own);
    // A container's mounts are read one after another: if it is in the list, it is the last.
    if (own[kind].at(-1) !== container) own[kind].push(container);
  };
  const all: Container[] = [...containers, ...initContainers, ...ephemeralContainers];
  for (const container of all) {
    for (const mount of container.volumeMounts ?? []) add(container, "mounts", mount);
    for (const device of container.volumeDevices ?? []) add(container, "devices", device);
  }
  return users;
}
