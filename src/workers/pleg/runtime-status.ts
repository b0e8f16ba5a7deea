// The runtime's own view of its readiness: the two conditions of Status, its handlers and features.

import type {
  RuntimeCondition as CriCondition,
  RuntimeHandler,
  RuntimeFeatures,
  StatusResponse,
} from "../../shared/kubernetes/cri/gen/runtime.v1.js";

interface RuntimeReadiness {
  runtimeReady: CriCondition;
  networkReady: CriCondition;
  /** Empty when the runtime does not report handlers. */
  handlers: RuntimeHandler[];
  features: RuntimeFeatures | undefined;
}

/**
 * Reads a Status reply. A condition that the reply lacks counts as not ready (the client rejects such replies anyway).
 */
export function readRuntimeStatus(reply: StatusResponse): RuntimeReadiness {
  const condition = (type: string): CriCondition =>
    reply.status?.conditions.find((found) => found.type === type) ?? {
      type,
      status: false,
      reason: "Unknown",
      message: "the runtime did not report this condition",
    };
  return {
    runtimeReady: condition("RuntimeReady"),
    networkReady: condition("NetworkReady"),
    handlers: reply.runtimeHandlers,
    features: reply.features,
  };
}
