// The containers of a pod in the order in which they start.

import type { PodSpec, Container } from "./pod.js";

type Containers = Pick<PodSpec, "containers"> & { initContainers?: Container[] | undefined };

/** Init containers (sidecars among them), then app containers. */
export function containersOf({ initContainers, containers }: Containers): Container[] {
  return initContainers === undefined ? containers : [...initContainers, ...containers];
}

/** All containers of a pod: those of `containersOf`, then ephemeral containers. */
export function allContainersOf(spec: PodSpec): Container[] {
  return spec.ephemeralContainers === undefined
    ? containersOf(spec)
    : [...containersOf(spec), ...spec.ephemeralContainers];
}
