// Go sends maps in random order. Equal states must be equal bytes, or every inspection would seem to show a change. And
// main gets no more of a container than it shows.

import type { ContainerStatus, Mount, PodSandboxStatus } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { TERMINATION_MESSAGE_PATH } from "../../shared/kubernetes/cri/observed-pod.js";

function sorted(map: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Puts the maps of a sandbox's status into key order. */
export function stableSandbox(status: PodSandboxStatus): PodSandboxStatus {
  return { ...status, labels: sorted(status.labels), annotations: sorted(status.annotations) };
}

/**
 * Puts the maps of a container's status into key order and leaves out the mounts that {@link shownMounts} does not
 * select.
 */
export function stableContainer(status: ContainerStatus): ContainerStatus {
  const linux = status.resources?.linux;
  return {
    ...status,
    labels: sorted(status.labels),
    annotations: sorted(status.annotations),
    mounts: shownMounts(status),
    resources:
      linux === undefined
        ? status.resources
        : { windows: status.resources?.windows, linux: { ...linux, unified: sorted(linux.unified) } },
  };
}

/**
 * The mounts that a pod's status shows beyond the spec, and the mount of the termination message. A container may have
 * tens of thousands of others, which main would decode.
 */
function shownMounts({ mounts, annotations }: ContainerStatus): Mount[] {
  const isShown = ({ recursiveReadOnly, image, containerPath }: Mount): boolean =>
    recursiveReadOnly || image !== undefined || containerPath === annotations[TERMINATION_MESSAGE_PATH];
  const paths = new Set(mounts.filter(isShown).map(({ containerPath }) => containerPath));
  // Of two with one path the first counts.
  return paths.size === 0 ? [] : mounts.filter(({ containerPath }) => paths.has(containerPath));
}
