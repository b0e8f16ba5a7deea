// The controllers of the simulated cluster that make ResourceClaims from templates, allocate and reserve them for pods,
// and free them after the pods. They take their time.
// Invariant: a device belongs to one claim for ever, and a pod's claims stay known after the pod.

import { kernel } from "../kernel/kernel.js";
import type { SimulatedApi } from "./api.js";
import { DRIVER } from "./dra-plugin.js";

/** Claims in the namespace default that pods share. */
export const SHARED_CLAIMS = ["gpu-0", "gpu-1"];
export const TEMPLATE = "gpu-template";
/** Requests of each claim: a device each. */
export const REQUESTS = ["one", "two"];

const RESOURCE = "resourceclaims";
const MOST_LATE_MS = 8000;

interface Claim {
  /** The name of the object. */
  name: string;
  uid: string;
  isShared: boolean;
}

interface SpecClaim {
  name: string;
  resourceClaimName?: string;
}

interface User {
  resource: string;
  name: string;
  uid: string;
}

type Status = { phase?: string } | undefined;

export class ClaimController {
  /** Claims of each pod, by its UID and then by the pod's name for the claim. */
  readonly ofPods = new Map<string, Map<string, Claim>>();
  private made = 0;

  constructor(private readonly api: SimulatedApi) {
    for (const name of SHARED_CLAIMS) this.allocate(name);
    api.onPod(({ type, object, previous }) => {
      const { name, uid = "" } = object.metadata;
      const claims = (object.spec?.["resourceClaims"] ?? []) as SpecClaim[];
      if (claims.length === 0) return;
      if (type === "ADDED") this.later(() => this.furnish(name, uid, claims));
      else if (type === "DELETED" || (isOver(object.status) && !isOver(previous?.status)))
        this.later(() => this.free(uid));
    });
  }

  private later(fn: () => void): void {
    const ms = kernel.random.between(10, kernel.random.chance(0.5) ? 200 : MOST_LATE_MS);
    kernel.after(kernel.world, ms, fn);
  }

  /** Makes the claims of the pod's templates; all of its claims are its own some time after that. */
  private furnish(name: string, uid: string, wanted: readonly SpecClaim[]): void {
    if (!this.isWanted(name, uid)) return;
    const claims = new Map(wanted.map((claim) => [claim.name, this.claimOf(claim, name, uid)]));
    this.ofPods.set(uid, claims);
    const resourceClaimStatuses = [...claims]
      .filter(([, { isShared }]) => !isShared)
      .map(([podName, claim]) => ({ name: podName, resourceClaimName: claim.name }));
    if (resourceClaimStatuses.length > 0)
      this.api.store.put("pods", { metadata: { name, namespace: "default" }, status: { resourceClaimStatuses } });
    this.later(() => {
      if (!this.isWanted(name, uid)) return;
      for (const claim of claims.values()) {
        if (!claim.isShared) this.allocate(claim.name);
        this.setUsers(claim.name, (users) => [...users, { resource: "pods", name, uid }]);
      }
    });
  }

  private claimOf({ name, resourceClaimName: shared }: SpecClaim, pod: string, uid: string): Claim {
    if (shared !== undefined) {
      const uidOfClaim = this.api.store.get(RESOURCE, "default", shared)?.metadata.uid ?? "";
      return { name: shared, uid: uidOfClaim, isShared: true };
    }
    const { metadata } = this.api.store.put(RESOURCE, {
      metadata: {
        name: `${pod}-${name}-${++this.made}`,
        namespace: "default",
        ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: pod, uid, controller: true }],
      },
      spec: SPEC,
    });
    return { name: metadata.name, uid: metadata.uid ?? "", isShared: false };
  }

  private allocate(name: string): void {
    const results = REQUESTS.map((request) => ({
      request,
      driver: DRIVER,
      pool: "pool",
      device: `${name}-${request}`,
    }));
    this.api.store.put(RESOURCE, {
      metadata: { name, namespace: "default" },
      spec: SPEC,
      status: { allocation: { devices: { results } } },
    });
  }

  private free(podUid: string): void {
    for (const { name, isShared } of this.ofPods.get(podUid)?.values() ?? []) {
      if (isShared) this.setUsers(name, (users) => users.filter(({ uid }) => uid !== podUid));
      else this.api.store.remove(RESOURCE, "default", name);
    }
  }

  private setUsers(name: string, change: (users: readonly User[]) => User[]): void {
    const claim = this.api.store.get(RESOURCE, "default", name);
    if (claim === undefined) return;
    const { reservedFor = [] } = (claim.status ?? {}) as { reservedFor?: User[] };
    this.api.store.put(RESOURCE, {
      metadata: { name, namespace: "default" },
      status: { ...claim.status, reservedFor: change(reservedFor) },
    });
  }

  private isWanted(name: string, uid: string): boolean {
    const pod = this.api.store.get("pods", "default", name);
    return pod?.metadata.uid === uid && pod.metadata.deletionTimestamp === undefined && !isOver(pod.status);
  }
}

const SPEC = {
  devices: { requests: REQUESTS.map((name) => ({ name, exactly: { deviceClassName: "gpu.example.com" } })) },
};

export function isOver(status: Status | object): boolean {
  const { phase } = (status ?? {}) as { phase?: string };
  return phase === "Succeeded" || phase === "Failed";
}
