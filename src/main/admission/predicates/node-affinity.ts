// Is this the node that the pod selects? nodeSelector and required node affinity, by this node's labels and name.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
import type { Pod } from "../../../shared/api/pod.js";
import type { AdmissionHandler, AdmissionNode } from "../handler.js";

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}
interface Term {
  matchExpressions?: Requirement[];
  matchFields?: Requirement[];
}
interface Affinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Term[] } };
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

/** A term without requirements selects nothing. */
function termMatches({ matchExpressions = [], matchFields = [] }: Term, node: AdmissionNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { "metadata.name": node.name };
  return (
    matchExpressions.every((requirement) => requirementMatches(requirement, node.labels)) &&
    matchFields.every((requirement) => requirementMatches(requirement, fields))
  );
}

function requirementMatches(
  { key, operator, values = [] }: Requirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const own = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return own !== undefined && values.includes(own);
    case "NotIn":
      return own === undefined || !values.includes(own);
    case "Exists":
      return own !== undefined;
    case "DoesNotExist":
      return own === undefined;
    case "Gt":
    case "Lt": {
      const [left, right] = [integer(own), integer(values[0])];
      if (left === undefined || right === undefined) return false;
      return operator === "Gt" ? left > right : left < right;
    }
    default:
      return false;
  }
}

function integer(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text) : undefined;
}
