// Features that a node declares in its status (KEP-5328), and the pods that need them. The scheduler places such pods
// only on nodes that declare the feature; the kubelet checks again. Upstream's list of 1.36; every feature has the name
// of its gate.

import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import { changedResources } from "./pod-resources.js";

/** Needs a runtime that reports user_namespaces_host_network, too. */
export const USER_NAMESPACES_HOST_NETWORK = "UserNamespacesHostNetworkSupport";

export const DECLARABLE = [
  "ExtendWebSocketsToKubelet",
  "InPlacePodLevelResourcesVerticalScaling",
  "InPlacePodVerticalScalingInitContainers",
  "RestartAllContainersOnContainerExits",
  USER_NAMESPACES_HOST_NETWORK,
] as const;

export type DeclarableFeature = (typeof DECLARABLE)[number];

/** Sorted. */
export function featuresToRun({ spec }: Pod): DeclarableFeature[] {
  const features: DeclarableFeature[] = [];
  const restartsAll = ({ restartPolicyRules = [] }: Container) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers");
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(restartsAll)) {
    features.push("RestartAllContainersOnContainerExits");
  }
  if (spec.hostNetwork === true && spec.hostUsers === false) features.push(USER_NAMESPACES_HOST_NETWORK);
  return features;
}

/** The features that the update of a pod needs, beyond those that the pod needs to run. Sorted. */
export function featuresToUpdate(before: Pod, after: Pod): DeclarableFeature[] {
  const features: DeclarableFeature[] = [];
  if (changedResources(before.spec.resources, after.spec.resources).length > 0) {
    features.push("InPlacePodLevelResourcesVerticalScaling");
  }
  const inits = new Map(after.spec.initContainers?.map((container) => [container.name, container]));
  const resized = (before.spec.initContainers ?? []).some(({ name, restartPolicy, resources }) => {
    const now = inits.get(name);
    return restartPolicy !== "Always" && now !== undefined && changedResources(resources, now.resources).length > 0;
  });
  if (resized) features.push("InPlacePodVerticalScalingInitContainers");
  return features;
}

export function featuresMissing(names: readonly string[]): string {
  return `Pod requires node features that are not available: ${names.join(", ")}`;
}
