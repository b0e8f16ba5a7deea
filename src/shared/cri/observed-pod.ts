// What the runtime says about one pod at one moment: the unit that the pleg thread publishes and everyone else reads.
import type { ContainerStatus, PodSandboxStatus } from "./gen/runtime.v1.js";

export interface ObservedPod {
  uid: string;
  namespace: string;
  name: string;
  /** Newest first by createdAt. Empty when the runtime knows nothing of the pod. */
  sandboxes: PodSandboxStatus[];
  /** All containers of all its sandboxes, newest first by createdAt. */
  containers: ContainerStatus[];
  /** Highest inspection generation that was requested when this inspection began; 0 for a pod without requests. */
  generation: number;
  /** When the inspection began, milliseconds since the epoch. */
  observedAt: number;
}

/** Drops what is kept by container id of containers that the pod no longer has: it must not grow with restarts. */
export function forgetAllBut(kept: Set<string> | Map<string, unknown>, { containers }: ObservedPod): void {
  if (kept.size === 0) return;
  const ids = new Set(containers.map(({ id }) => id));
  for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
}
