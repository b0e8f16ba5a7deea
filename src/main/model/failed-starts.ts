// A container whose start failed, or whose starter was lost, has exited without having run. It must not push out the
// one with the exit of the last run: that exit would be lost.

import { ContainerState } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedContainer } from "../../shared/kubernetes/cri/observed-pod.js";

/** containerd's reason for a container whose start failed. */
const START_FAILED = "StartError";

/** Returns the containers that never ran, where another container of the same name did. */
export function failedStartsBesideRuns(containers: readonly ObservedContainer[]): Set<ObservedContainer> {
  const nameOf = ({ metadata }: ObservedContainer): string => metadata?.name ?? "";
  const exited = containers.filter(({ state }) => state === ContainerState.CONTAINER_EXITED);
  const ran = new Set(exited.filter(({ reason }) => reason !== START_FAILED).map(nameOf));
  return new Set(exited.filter((status) => status.reason === START_FAILED && ran.has(nameOf(status))));
}
