// Label selectors (meta/v1), as objects name other objects by their labels.

import type { LabelSelector } from "./gen/meta.js";

/** An empty selector matches everything, an absent one nothing. An unknown operator matches nothing. */
export function selects(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>> | undefined = {},
): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      // A key such as "constructor" is a member of each object.
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      switch (operator) {
        case "In":
          return value !== undefined && values.includes(value);
        case "NotIn":
          return value === undefined || !values.includes(value);
        case "Exists":
          return value !== undefined;
        case "DoesNotExist":
          return value === undefined;
        default:
          return false;
      }
    })
  );
}
