// Which ResourceClaims a pod uses, and whether it may use them. The answer comes from the pod's spec, its status as
// controller and scheduler wrote it, and the claim itself.
// https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/

import { oncePer } from "../../../shared/base/objects/once-per.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { OwnerReference } from "../../../shared/kubernetes/api/meta.js";
import type { ResourceClaim } from "../../../shared/kubernetes/api/objects.js";
import { perSpec } from "../../../shared/kubernetes/api/per-spec.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Container, Pod, PodSpec } from "../../../shared/kubernetes/api/pod.js";
import { DraError } from "./dra-error.js";

export type ClaimStatuses = Pick<PodStatus, "resourceClaimStatuses" | "extendedResourceClaimStatus">;

type SpecClaim = NonNullable<PodSpec["resourceClaims"]>[number];
type ClaimStatus = NonNullable<PodStatus["resourceClaimStatuses"]>[number];

export interface PodClaim {
  /** As containers refer to it; undefined for the claim of extended resources. */
  podName: string | undefined;
  /** Name of the ResourceClaim object in the pod's namespace. */
  claim: string;
  /** It was made for this pod from a template: another pod's is refused. */
  owned: boolean;
}

/** Claims that need no object are left out. @throws DraError while a claim of a template is not made yet */
export function claimsOf(pod: Pod, status: ClaimStatuses): PodClaim[] {
  const claims = (pod.spec.resourceClaims ?? []).flatMap((entry): PodClaim[] => {
    const { name, resourceClaimName, resourceClaimTemplateName } = entry;
    if (resourceClaimName !== undefined) return [{ podName: name, claim: resourceClaimName, owned: false }];
    if (resourceClaimTemplateName === undefined) {
      throw new DraError(`pod claim ${name} names neither a ResourceClaim nor a ResourceClaimTemplate`);
    }
    const made = madeStatus(status, name);
    if (made === undefined) {
      throw new DraError(
        `pod ${quote(`${pod.metadata.namespace}/${pod.metadata.name}`)}: ResourceClaim not created yet (pod claim ${name}, template ${resourceClaimTemplateName})`,
      );
    }
    const { resourceClaimName: claim } = made;
    return claim === undefined ? [] : [{ podName: name, claim, owned: true }];
  });
  const extended = status.extendedResourceClaimStatus;
  if (extended === undefined) return claims;
  return [...claims, { podName: undefined, claim: extended.resourceClaimName, owned: true }];
}

/** The ResourceClaim that was made for the pod from the template of its claim `name`; undefined before. */
export function madeFor(status: Partial<ClaimStatuses>, name: string): string | undefined {
  return madeStatus(status, name)?.resourceClaimName;
}

/** The pod's claim of this name. */
export function claimNamed(spec: PodSpec, name: string): SpecClaim | undefined {
  return claimsByName(spec).get(name);
}

function madeStatus({ resourceClaimStatuses: made }: Partial<ClaimStatuses>, name: string): ClaimStatus | undefined {
  return made === undefined ? undefined : statusesByName(made).get(name);
}

// A pod and its containers may name tens of thousands of claims.
const claimsByName = perSpec(({ resourceClaims = [] }) => firstByName(resourceClaims));
const statusesByName = oncePer(firstByName<ClaimStatus>);

function firstByName<T extends { name: string }>(all: readonly T[]): Map<string, T> {
  return new Map(all.toReversed().map((one) => [one.name, one]));
}

/**
 * @param podGroups gate DRAWorkloadResourceClaims: a claim may belong to, and be reserved for, the PodGroup of the pod
 * @throws DraError when the pod may not use the claim, or it is not allocated
 */
export function requireUsable(
  pod: Pod,
  { claim: name, owned }: PodClaim,
  claim: ResourceClaim,
  podGroups: boolean,
): void {
  const { uid, namespace, name: podName } = pod.metadata;
  // A pod does not know the UID of its group.
  const group = podGroups ? pod.spec.schedulingGroup?.podGroupName : undefined;
  const controller = claim.metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (owned && controller?.uid !== uid && !isPodGroup(controller, group)) {
    const whose = group === undefined ? "Pod is not owner" : `neither Pod nor PodGroup ${group} is the owner`;
    throw new DraError(`ResourceClaim ${namespace}/${name} was not created for Pod ${namespace}/${podName} (${whose})`);
  }
  const reserved = claim.status?.reservedFor?.some(
    (user) =>
      (user.resource === "pods" && user.uid === uid) ||
      (group !== undefined && user.apiGroup === SCHEDULING && user.resource === "podgroups" && user.name === group),
  );
  if (reserved !== true) {
    throw new DraError(
      `pod ${podName} (${uid}) is not allowed to use ResourceClaim ${name} (${claim.metadata.uid ?? ""}): it is not in status.reservedFor`,
    );
  }
  if (claim.status?.allocation === undefined) throw new DraError(`ResourceClaim ${name}: not allocated`);
}

const SCHEDULING = "scheduling.k8s.io";

/** Whether the owner is the PodGroup of that name, in any version of its API. */
function isPodGroup(owner: OwnerReference | undefined, name: string | undefined): boolean {
  return (
    owner !== undefined &&
    owner.kind === "PodGroup" &&
    owner.name === name &&
    owner.apiVersion.startsWith(`${SCHEDULING}/`)
  );
}

/** Drivers of the claim's allocation, each once. */
export function driversOf(claim: ResourceClaim): string[] {
  const results = claim.status?.allocation?.devices?.results ?? [];
  return [...new Set(results.map(({ driver }) => driver))];
}

export interface ContainerRequest {
  claim: string;
  /** Name of one request of the claim; "": all of its requests. */
  request: string;
}

/** The requests whose devices the container gets. */
export function requestsOf(
  container: Container,
  claims: readonly PodClaim[],
  status: ClaimStatuses,
): ContainerRequest[] {
  const byName = new Map(claims.map(({ podName, claim }) => [podName, claim]));
  const named = (container.resources?.claims ?? []).flatMap(({ name, request = "" }) => {
    const claim = byName.get(name);
    return claim === undefined ? [] : [{ claim, request }];
  });
  const extended = status.extendedResourceClaimStatus;
  if (extended === undefined) return named;
  const requested = new Set(Object.keys(container.resources?.requests ?? {}));
  const mapped = (extended.requestMappings ?? [])
    .filter(({ containerName, resourceName }) => containerName === container.name && requested.has(resourceName))
    .map(({ requestName }) => ({ claim: extended.resourceClaimName, request: requestName }));
  return [...named, ...mapped];
}
