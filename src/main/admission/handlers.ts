// All handlers in the order in which they are asked; the first refusal wins. Between the first two and the rest a new pod asks
// the resource managers (node-admission.ts).
import { appArmorHandler } from "./app-armor.js";
import type { AdmissionContext, AdmissionHandler } from "./handler.js";
import { declaredFeaturesHandler, podFeaturesHandler, shutdownHandler } from "./pod-features.js";
import { nodeAffinityHandler, nodeNameHandler } from "./predicates/node-affinity.js";
import { nodePortsHandler } from "./predicates/node-ports.js";
import { operatingSystemHandler, supplementalGroupsHandler } from "./predicates/operating-system.js";
import { resourcesHandler } from "./predicates/resources.js";
import { taintsHandler } from "./predicates/taints.js";
import { pressureHandler } from "./pressure.js";
import { sysctlHandler } from "./sysctls.js";
import type { Refusal } from "../model/refusal.js";

/** Handlers whose verdict does not depend on free resources. */
const PLACEMENT: readonly AdmissionHandler[] = [nodeAffinityHandler, nodeNameHandler, nodePortsHandler, taintsHandler];

const BEFORE_RESOURCES: readonly AdmissionHandler[] = [pressureHandler, sysctlHandler];

const AFTER_RESOURCES: readonly AdmissionHandler[] = [
  operatingSystemHandler,
  supplementalGroupsHandler,
  resourcesHandler,
  ...PLACEMENT,
  appArmorHandler,
  podFeaturesHandler,
  declaredFeaturesHandler,
  shutdownHandler,
];

/** Of all handlers. */
export function firstRefusal(context: AdmissionContext): Refusal | undefined {
  return refusalBeforeResources(context) ?? refusalAfterResources(context);
}

/** Of those that are asked before anything is handed out. */
export function refusalBeforeResources(context: AdmissionContext): Refusal | undefined {
  return refusalOf(BEFORE_RESOURCES, context);
}

export function refusalAfterResources(context: AdmissionContext): Refusal | undefined {
  return refusalOf(AFTER_RESOURCES, context);
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
