// Pods that were not admitted, or lost their room: only where pods have CPUs, devices, memory or ports of their own, or
// memory runs short. No scheduler counts them, so a pod may come while others still have its CPUs.

import type { NodeShape } from "./node-shape.js";

const REASONS = new Set(["Preempting", "UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError"]);

export function isRejected(
  { reserved, hasHostPorts, isShortOfMemory }: NodeShape,
  { phase, reason = "" }: { phase?: string | undefined; reason?: string | undefined },
): boolean {
  if (phase !== "Failed") return false;
  if (hasHostPorts && reason === "NodePorts") return true;
  if (isShortOfMemory === true && reason === "Evicted") return true;
  return reserved !== undefined && (REASONS.has(reason) || reason.startsWith("OutOf"));
}
