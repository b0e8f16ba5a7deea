// Extended resources that the fit test leaves out: those that this node does not know, and those that DRA provides. The
// scheduler has already accounted for them: cluster-level resources belong to scheduler extenders, DRA's to a
// ResourceClaim.
// Invariant: an extended resource that the node offers or has offered stays in the test, even if none is left.
// Upstream: removeMissingExtendedResources in pkg/kubelet/lifecycle/predicate.go.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { isExtendedResourceName } from "../../../shared/kubernetes/api/extended-resources.js";
import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import type { Pod, Container } from "../../../shared/kubernetes/api/pod.js";
import type { ExtendedClaim } from "./handler.js";

/** Names under which a DeviceClass can be requested without its own extended resource name. */
const DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/";

/** The pod without requests that the node's allocatable lacks; the same object if there are none. */
export function withoutMissingExtended(
  pod: Pod,
  allocatable: ReadonlyMap<string, unknown>,
  claim: ExtendedClaim | undefined,
): Pod {
  const isMissing = (container: Container, name: string): boolean =>
    isExtendedResourceName(name)
      ? !allocatable.has(name) || isClaimed(container, name, claim)
      : name.startsWith(DEVICE_CLASS_PREFIX) && isClaimed(container, name, claim);
  const { spec } = pod;
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  if (!all.some((container) => names(container).some((name) => isMissing(container, name)))) return pod;
  const reduced = (container: Container): Container => ({
    ...container,
    resources: { ...container.resources, requests: keep(container, (name) => !isMissing(container, name)) },
  });
  return {
    ...pod,
    spec: omitUndefined({
      ...spec,
      containers: spec.containers.map(reduced),
      initContainers: spec.initContainers?.map(reduced),
    }),
  };
}

function names({ resources }: Container): string[] {
  return Object.keys(resources?.requests ?? {});
}

function keep({ resources }: Container, wanted: (name: string) => boolean): ResourceList {
  return Object.fromEntries(Object.entries(resources?.requests ?? {}).filter(([name]) => wanted(name)));
}

function isClaimed(container: Container, name: string, claim: ExtendedClaim | undefined): boolean {
  return (claim?.requestMappings ?? []).some(
    ({ containerName, resourceName }) => containerName === container.name && resourceName === name,
  );
}
