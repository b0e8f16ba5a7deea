// Pods that were not admitted, or lost their room: only where pods have CPUs, devices, memory or ports of their own, or
// the node runs short of something or shuts down in order. No scheduler counts them, so a pod may come while others
// still have its CPUs.

import { isShort, type NodeShape } from "./node-shape.js";
import type { AllFacts, PodFacts } from "./pod-facts.js";

const REASONS = new Set(["Preempting", "UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError"]);

export function isRejected(
  node: NodeShape,
  { phase, reason = "" }: { phase?: string | undefined; reason?: string | undefined },
): boolean {
  const { reserved, hasHostPorts } = node;
  if (phase !== "Failed") return false;
  if (hasHostPorts && reason === "NodePorts") return true;
  if (node.shutdown !== undefined && reason === "NodeShutdown") return true;
  if (isShort(node) && reason === "Evicted") return true;
  return reserved !== undefined && (REASONS.has(reason) || reason.startsWith("OutOf"));
}

interface End {
  phase?: string;
  reason?: string;
}

/** The pod was not admitted or lost its room, or a shutdown of the machine has ended it. */
export function isKeptOut(
  { node, facts }: { node: NodeShape; facts: AllFacts },
  pod: Pick<PodFacts, "shape">,
  end: End,
): boolean {
  if (node.shutdown !== undefined && isShutDown(pod, facts, end)) return true;
  return end.reason !== "NodeShutdown" && isRejected(node, end);
}

/**
 * A shutdown of the machine has ended the pod or kept it out. A pod of the API stays so; a static one runs again after
 * the boot, and stays so after a shutdown that was cancelled.
 */
function isShutDown(
  { shape }: Pick<PodFacts, "shape">,
  { lastRebootAt, lastShutdownAt }: AllFacts,
  { phase, reason = "" }: End,
): boolean {
  if (phase !== "Failed" || !["Terminated", "NodeShutdown"].includes(reason)) return false;
  return !shape.isStatic || lastShutdownAt > lastRebootAt;
}
