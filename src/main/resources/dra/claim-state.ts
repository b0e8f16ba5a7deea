// The state of the ResourceClaims that the kubelet's pods use: pods, drivers and devices of each claim. Pure functions
// derive the CDI devices of a container, its allocatedResourcesStatus, and the pod resources service's list.
// Invariant: a claim has an entry from before the first call of its driver until every driver has unprepared it.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";

export interface PreparedDevice {
  pool: string;
  device: string;
  /** One share of a device that several claims use. */
  shareId?: string | undefined;
  /** The requests of the claim that it serves; empty: all. */
  requests: readonly string[];
  /** Fully qualified: "vendor.com/class=name". */
  cdiDevices: readonly string[];
}

export interface ClaimState {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** They use it. */
  readonly pods: Set<PodUid>;
  /** By driver of the allocation; empty for a driver that provides no device, or has not prepared the claim yet. */
  readonly drivers: Map<string, readonly PreparedDevice[]>;
  /**
   * Every driver has prepared it since this kubelet started. A claim from the checkpoint begins with false and is
   * prepared again. Calls are idempotent, and a plugin may have restarted.
   */
  prepared: boolean;
}

/** CDI devices of one request of the claim; of the whole claim for "". */
export function cdiDevicesOf({ drivers }: ClaimState, request: string): string[] {
  return [...drivers.values()]
    .flat()
    .filter(({ requests }) => request === "" || requests.length === 0 || requests.includes(request))
    .flatMap(({ cdiDevices }) => cdiDevices);
}

export function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
