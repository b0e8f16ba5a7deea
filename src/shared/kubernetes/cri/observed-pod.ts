// One pod as observed in the runtime at one moment. The pleg thread publishes it, and all other parts read it.

import type { PodUid, ContainerId, SandboxId } from "../identifiers.js";
import type { ContainerStatus, PodSandboxStatus } from "./gen/runtime.v1.js";

/** Annotation of a container: where it sees its termination message file, which is one of its mounts. */
export const TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath";

export interface ObservedContainer extends ContainerStatus {
  id: ContainerId;
}

/** A status that was read from the runtime's reply or a record. */
export function observedContainer(status: ContainerStatus): ObservedContainer {
  return status as ObservedContainer;
}

export interface ObservedSandbox extends PodSandboxStatus {
  id: SandboxId;
}

/** A status that was read from the runtime's reply or a record. */
export function observedSandbox(status: PodSandboxStatus): ObservedSandbox {
  return status as ObservedSandbox;
}

export interface ObservedPod {
  uid: PodUid;
  namespace: string;
  name: string;
  /** Newest first by createdAt. Empty if the runtime has no sandbox of the pod. */
  sandboxes: ObservedSandbox[];
  /** All containers of all its sandboxes, newest first by createdAt. */
  containers: ObservedContainer[];
  /** Highest inspection generation that was requested when this inspection began; 0 for a pod without requests. */
  generation: number;
  /** Start of the inspection, milliseconds since the epoch. */
  observedAt: number;
}

/**
 * Drops entries by container id of containers that the pod no longer has: the collection must not grow with restarts.
 */
export function forgetAllBut(kept: Set<ContainerId> | Map<ContainerId, unknown>, { containers }: ObservedPod): void {
  if (kept.size === 0) return;
  const ids = new Set(containers.map(({ id }) => id));
  for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
}

/** The order of an observed pod's sandboxes and containers. */
export function newestFirst(a: { createdAt: bigint; id: string }, b: { createdAt: bigint; id: string }): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
