// Admit handlers that compare a pod with the node: its name, labels, taints, host ports, pressure and operating system.

import { termMatches } from "../../../shared/kubernetes/api/node-selector.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { AdmissionHandler, AdmissionNode } from "./handler.js";

// The node name, nodeSelector and required node affinity of the pod.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/

export const nodeAffinityHandler: AdmissionHandler = ({ pod, node }) =>
  selects(pod, node)
    ? undefined
    : {
        reason: "NodeAffinity",
        message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
      };

export const nodeNameHandler: AdmissionHandler = ({ pod, node }) => {
  const { nodeName = "" } = pod.spec;
  return nodeName === "" || nodeName === node.name
    ? undefined
    : {
        reason: "NodeName",
        message: "Predicate NodeName failed: node(s) didn't match the requested node name",
      };
};

function selects(pod: Pod, node: AdmissionNode): boolean {
  const { nodeSelector = {} } = pod.spec;
  if (!Object.entries(nodeSelector).every(([key, value]) => node.labels[key] === value)) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => termMatches(term, node));
}
