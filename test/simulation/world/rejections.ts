// Pods that were not admitted, or lost their room: only where pods have CPUs or devices of their own. No scheduler
// counts them, so a pod may come while others still have its CPUs.

import type { NodeShape } from "./node-shape.js";

const REASONS = new Set(["Preempting", "UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError"]);

export function isRejected(
  { reserved }: NodeShape,
  { phase, reason = "" }: { phase?: string | undefined; reason?: string | undefined },
): boolean {
  return reserved !== undefined && phase === "Failed" && (REASONS.has(reason) || reason.startsWith("OutOf"));
}
