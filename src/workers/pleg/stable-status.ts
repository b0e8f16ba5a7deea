// Go sends maps in random order. Equal states must be equal bytes, or every inspection would seem to show a change. And
// main gets no more of a container than it shows.

import type { ContainerStatus, Mount, PodIP, PodSandboxStatus } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { TERMINATION_MESSAGE_PATH } from "../../shared/kubernetes/cri/observed-pod.js";
import { boundedAddresses, boundedMap, imageText, messageText, nameText } from "./bounds.js";

/** Puts the maps of a sandbox's status into key order, and bounds what a runtime may say. */
export function stableSandbox(status: PodSandboxStatus): PodSandboxStatus {
  const { network, labels, annotations } = status;
  return {
    ...status,
    network: network && { ip: nameText(network.ip), additionalIps: addressesOf(network.additionalIps) },
    labels: boundedMap(labels),
    annotations: boundedMap(annotations),
  };
}

function addressesOf(addresses: readonly PodIP[]): PodIP[] {
  return boundedAddresses(addresses).map(({ ip }) => ({ ip: nameText(ip) }));
}

/**
 * Puts the maps of a container's status into key order and leaves out the mounts that {@link shownMounts} does not
 * select.
 */
export function stableContainer(status: ContainerStatus): ContainerStatus {
  const linux = status.resources?.linux;
  return {
    ...status,
    image: status.image && { ...status.image, image: imageText(status.image.image) },
    imageRef: imageText(status.imageRef),
    imageId: imageText(status.imageId),
    reason: nameText(status.reason),
    message: messageText(status.message),
    labels: boundedMap(status.labels),
    annotations: boundedMap(status.annotations),
    mounts: shownMounts(status),
    resources:
      linux === undefined
        ? status.resources
        : { windows: status.resources?.windows, linux: { ...linux, unified: boundedMap(linux.unified) } },
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
