// Resource claims of a pod (dynamic resource allocation, KEP-4381). The kubelet cannot prepare claims yet.
// A pod that asks for extended resources which no device plugin offers is refused at admission (OutOf<resource>).
// Invariant: no sandbox and no container of a pod starts without the devices that its claims grant.
import type { Pod } from "../../shared/api/pod.js";

/** The pod's resource claims are not prepared. The message completes upstream's event FailedPrepareDynamicResources. */
export class DynamicResourcesError extends Error {
  override readonly name = "DynamicResourcesError";
}

/**
 * Checks that every resource claim of the pod is prepared.
 * @throws DynamicResourcesError when the pod has claims: the DRA manager is missing
 */
export function requirePreparedClaims(pod: Pod): void {
  const claims = pod.spec.resourceClaims ?? [];
  if (claims.length === 0) return;
  const names = claims.map(({ name }) => name ?? "(unnamed)").join(", ");
  throw new DynamicResourcesError(
    `this kubelet cannot prepare resource claims (pod claims ${names}): ` +
      "run the pod on a node whose kubelet supports dynamic resource allocation",
  );
}
