// Options of a query that are on or off.

/**
 * As the API machinery reads a bool: absent, "0" and "false" in any case are off; all else, also an empty text, is on.
 * python's client sends "True". Source: k8s.io/apimachinery, pkg/runtime/conversion.go
 */
export function queryFlag(query: URLSearchParams, option: string): boolean {
  const value = query.get(option);
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}
