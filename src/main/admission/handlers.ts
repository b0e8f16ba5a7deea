// All handlers in the order in which they are asked; the first refusal wins. Resource managers and declared features
// take their places here when the node has them.
import { appArmorHandler } from "./app-armor.js";
import type { AdmissionContext, AdmissionHandler, Refusal } from "./handler.js";
import { podFeaturesHandler, shutdownHandler } from "./pod-features.js";
import { nodeAffinityHandler, nodeNameHandler } from "./predicates/node-affinity.js";
import { nodePortsHandler } from "./predicates/node-ports.js";
import { operatingSystemHandler, supplementalGroupsHandler } from "./predicates/operating-system.js";
import { resourcesHandler } from "./predicates/resources.js";
import { taintsHandler } from "./predicates/taints.js";
import { pressureHandler } from "./pressure.js";
import { sysctlHandler } from "./sysctls.js";

/** What room on the node does not change. */
const PLACEMENT: readonly AdmissionHandler[] = [nodeAffinityHandler, nodeNameHandler, nodePortsHandler, taintsHandler];

export const ADMISSION_HANDLERS: readonly AdmissionHandler[] = [
  pressureHandler,
  sysctlHandler,
  operatingSystemHandler,
  supplementalGroupsHandler,
  resourcesHandler,
  ...PLACEMENT,
  appArmorHandler,
  podFeaturesHandler,
  shutdownHandler,
];

export function firstRefusal(context: AdmissionContext): Refusal | undefined {
  return refusalOf(ADMISSION_HANDLERS, context);
}

/** Room alone would not help a pod that does not belong on this node. */
export function placementRefusal(context: AdmissionContext): Refusal | undefined {
  return refusalOf(PLACEMENT, context);
}

function refusalOf(handlers: readonly AdmissionHandler[], context: AdmissionContext): Refusal | undefined {
  for (const handler of handlers) {
    const refusal = handler(context);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
