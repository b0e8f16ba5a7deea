// Features a pod asks for that this node has turned off (status-rules.md 10).
import { featuresMissing, featuresToRun } from "../model/declared-features.js";
import { hasPodLevelResources } from "../resources/pod-requests.js";
import type { AdmissionHandler } from "./handler.js";

export const podFeaturesHandler: AdmissionHandler = ({ pod, node }) =>
  !node.podLevelResources && hasPodLevelResources(pod)
    ? { reason: "PodLevelResourcesNotSupported", message: "PodLevelResources feature gate is disabled" }
    : undefined;

export const declaredFeaturesHandler: AdmissionHandler = ({ pod, node: { declaredFeatures } }) => {
  if (declaredFeatures === undefined) return undefined;
  const missing = featuresToRun(pod).filter((feature) => !declaredFeatures.includes(feature));
  return missing.length === 0 ? undefined : { reason: "PodFeatureUnsupported", message: featuresMissing(missing) };
};

export const shutdownHandler: AdmissionHandler = ({ node }) =>
  node.shuttingDown ? { reason: "NodeShutdown", message: "Pod was rejected as the node is shutting down." } : undefined;
