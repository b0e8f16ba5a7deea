// The runtime's own view of its readiness: the two conditions of Status, its handlers and features.
import type {
  RuntimeCondition,
  RuntimeFeatures,
  RuntimeHandler,
  StatusResponse,
} from "../../shared/cri/gen/runtime.v1.js";

export interface RuntimeReadiness {
  runtimeReady: RuntimeCondition;
  networkReady: RuntimeCondition;
  /** Empty when the runtime does not report handlers. */
  handlers: RuntimeHandler[];
  features: RuntimeFeatures | undefined;
}

/** Reads a Status reply. A condition that the reply lacks counts as not ready (the client rejects such replies anyway). */
export function readRuntimeStatus(reply: StatusResponse): RuntimeReadiness {
  const condition = (type: string): RuntimeCondition =>
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

/** "NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized": the form operators know. */
export function describeCondition(condition: RuntimeCondition): string {
  return `${condition.type}=${String(condition.status)} reason:${condition.reason} message:${condition.message}`;
}
