// The ResourceClaims of pods as the runtime verbs use them (dynamic resource allocation, KEP-4381).
// Invariant: no sandbox and no container of a pod starts without the devices that its claims grant.

import type { ResourceStatus } from "../../shared/kubernetes/api/pod-status.js";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/** Claims are not prepared or not unprepared. The message completes upstream's event FailedPrepareDynamicResources. */
export class DynamicResourcesError extends Error {
  override readonly name = "DynamicResourcesError";
}

/** A claim of a container with all of its devices, for the pod resources service. */
export interface ListedClaim {
  name: string;
  namespace: string;
  devices: readonly ListedClaimDevice[];
}

interface ListedClaimDevice {
  driver: string;
  pool: string;
  device: string;
  shareId?: string | undefined;
  /** Fully qualified: "vendor.com/class=name". */
  cdiDevices: readonly string[];
}

export interface PodClaims {
  /**
   * Prepares the pod's claims: always for a new PodSandbox (`anew`), otherwise only what an earlier kubelet has not
   * recorded.
   * @throws DynamicResourcesError, or the signal's reason
   */
  prepare(pod: Pod, anew: boolean, signal: AbortSignal): Promise<void>;
  /**
   * The pod has claims that are prepared, or may be: the API server must not yet show it as ended, or the cluster gives
   * their devices to others.
   */
  holds(pod: Pod): boolean;
  /**
   * No container of the pod runs. Idempotent. `pod`: its definition, where that is known.
   * @throws DynamicResourcesError, or the signal's reason
   */
  unprepare(podUid: PodUid, pod: Pod | undefined, signal: AbortSignal): Promise<void>;
  /** Fully qualified names of the container's CDI devices. @throws DynamicResourcesError */
  cdiDevices(pod: Pod, container: Container): string[];
  /**
   * Health of the devices of the container's claims: containerStatuses[].allocatedResourcesStatus. Empty without
   * claims.
   */
  health(pod: Pod, container: Container): ResourceStatus[];
  /** Prepared claims of the container. */
  listed(pod: Pod, container: Container): ListedClaim[];
}

/** Prepares the pod's claims. `claims` undefined: the node has not joined a cluster. @throws DynamicResourcesError */
export async function prepareClaims(
  claims: PodClaims | undefined,
  pod: Pod,
  anew: boolean,
  signal: AbortSignal,
): Promise<void> {
  if (claims !== undefined) {
    await claims.prepare(pod, anew, signal);
    return;
  }
  const wanted = pod.spec.resourceClaims ?? [];
  if (wanted.length === 0) return;
  const names = wanted.map(({ name }) => (name === "" ? "(unnamed)" : name)).join(", ");
  throw new DynamicResourcesError(
    `prepare dynamic resources: the node has not joined a cluster that could allocate them (pod claims ${names})`,
  );
}
