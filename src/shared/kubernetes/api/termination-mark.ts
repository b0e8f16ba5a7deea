// Marks on a pod as the kubelet shows it (/pods, the nodelet command, the status page): its containers are being
// stopped although the API does not delete it, or it has ended and only its object is left. The API server never gets
// them.

import type { Pod } from "./pod.js";

const MARK = "nodelet.dev/termination";

/**
 * stopping: the kubelet stops the pod although its source wants it (eviction, active deadline). ended: nothing of it is
 * left on the node, and its object stays in the API.
 */
export type TerminationMark = "stopping" | "ended";

export function withTerminationMark({ metadata, ...pod }: Pod, mark: TerminationMark): Pod {
  return { ...pod, metadata: { ...metadata, annotations: { ...metadata.annotations, [MARK]: mark } } };
}

export function terminationMark({ metadata }: Pick<Pod, "metadata">): TerminationMark | undefined {
  const mark = metadata.annotations?.[MARK];
  return mark === "stopping" || mark === "ended" ? mark : undefined;
}

/** Terminating in kubectl's sense, or marked: it wins over every other state of the pod. */
export function isTerminating(pod: Pick<Pod, "metadata">): boolean {
  return pod.metadata.deletionTimestamp != null || terminationMark(pod) !== undefined;
}
