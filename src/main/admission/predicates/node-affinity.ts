// Is this the node that the pod selects? nodeSelector and required node affinity, by this node's labels and name.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
import { termMatches } from "../../../shared/api/node-selector.js";
import type { NodeSelectorTerm } from "../../../shared/api/objects.js";
import type { Pod } from "../../../shared/api/pod.js";
import type { AdmissionHandler, AdmissionNode } from "../handler.js";

interface Affinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] } };
}

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
  const affinity = pod.spec.affinity as Affinity | undefined;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return true;
  return (required.nodeSelectorTerms ?? []).some((term) => termMatches(term, node));
}
