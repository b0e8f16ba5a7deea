// Matches a node selector term with this node. Pods select nodes by it, and persistent volumes restrict their nodes.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/

import type { NodeSelectorTerm } from "./objects.js";

type Requirement = NonNullable<NodeSelectorTerm["matchExpressions"]>[number];

export interface SelectedNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** A term without requirements selects nothing. */
export function termMatches(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: SelectedNode,
): boolean {
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
