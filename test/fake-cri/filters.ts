/** True when every label of the selector is there with that value. */
export function matchesLabels(labels: Record<string, string>, selector: Record<string, string>): boolean {
  for (const key in selector) if (labels[key] !== selector[key]) return false;
  return true;
}
