// ResourceClaims as the scheduler leaves them: allocated by a driver, and reserved for a pod.

import type { FakeApi } from "../../fake-api/fake-api.js";

export interface AllocatedClaim {
  name: string;
  /** Name of the pod; one that is not there makes a claim of another pod. */
  user: string;
  driver: string;
}

export function allocatedClaim(fixture: FakeApi, { name, user, driver }: AllocatedClaim) {
  const uid = fixture.store.get("pods", "default", user)?.metadata.uid ?? "none";
  return {
    metadata: { name, namespace: "default" },
    spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu" } }] } },
    status: {
      allocation: { devices: { results: [{ request: "one", driver, pool: "pool", device: name }] } },
      reservedFor: [{ resource: "pods", name: user, uid }],
    },
  };
}
