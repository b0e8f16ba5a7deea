// All admit handlers in the order of their calls; the first rejection wins. For a new pod, the resource managers are
// called between the first two handlers and the rest (node-admission.ts).

import { hasPodLevelResources } from "../../../shared/kubernetes/api/pod-requests.js";
import { featuresMissing, featuresToRun } from "../../model/declared-features.js";
import type { Refusal } from "../../model/refusal.js";
import { appArmorHandler } from "./app-armor.js";
import { resourcesHandler } from "./free-resources.js";
import type { AdmissionContext, AdmissionHandler } from "./handler.js";
import { namesHandler } from "./names.js";
import { nodeAffinityHandler, nodeNameHandler } from "./predicates.js";
import { nodePortsHandler } from "./predicates/host-ports.js";
import { pressureHandler } from "./predicates/node-pressure.js";
import { operatingSystemHandler, supplementalGroupsHandler } from "./predicates/operating-system.js";
import { taintsHandler } from "./predicates/taints.js";
import { sysctlHandler } from "./sysctls.js";

// Features that a pod uses although this node has turned them off.

/** @internal */
export const podFeaturesHandler: AdmissionHandler = ({ pod, node }) =>
  !node.podLevelResources && hasPodLevelResources(pod)
    ? { reason: "PodLevelResourcesNotSupported", message: "PodLevelResources feature gate is disabled" }
    : undefined;

/** @internal */
export const declaredFeaturesHandler: AdmissionHandler = ({ pod, node: { declaredFeatures } }) => {
  if (declaredFeatures === undefined) return undefined;
  const missing = featuresToRun(pod).filter((feature) => !declaredFeatures.includes(feature));
  return missing.length === 0 ? undefined : { reason: "PodFeatureUnsupported", message: featuresMissing(missing) };
};

/** @internal */
export const shutdownHandler: AdmissionHandler = ({ node }) =>
  node.shuttingDown ? { reason: "NodeShutdown", message: "Pod was rejected as the node is shutting down." } : undefined;

/** Handlers whose verdict does not depend on free resources. */
const PLACEMENT: readonly AdmissionHandler[] = [nodeAffinityHandler, nodeNameHandler, nodePortsHandler, taintsHandler];

const BEFORE_RESOURCES: readonly AdmissionHandler[] = [namesHandler, pressureHandler, sysctlHandler];

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

/** Returns the first refusal of any handler; undefined: the pod may run. */
export function firstRefusal(context: AdmissionContext): Refusal | undefined {
  return refusalBeforeResources(context) ?? refusalAfterResources(context);
}

/** Handlers that are called before any resource is granted. */
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
