// Pods that were not admitted, or lost their room: only where pods have CPUs, devices, memory or ports of their own, or
// the node runs short of something. No scheduler counts them, so a pod may come while others still have its CPUs.

import { isShort, type NodeShape } from "./node-shape.js";

const REASONS = new Set(["Preempting", "UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError"]);

export function isRejected(
  node: NodeShape,
  { phase, reason = "" }: { phase?: string | undefined; reason?: string | undefined },
): boolean {
  const { reserved, hasHostPorts } = node;
  if (phase !== "Failed") return false;
  if (hasHostPorts && reason === "NodePorts") return true;
  if (isShort(node) && reason === "Evicted") return true;
  return reserved !== undefined && (REASONS.has(reason) || reason.startsWith("OutOf"));
}
