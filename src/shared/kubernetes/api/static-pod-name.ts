// The name of a static pod: the manifest's, and that of the node.

export function staticPodName(name: string, nodeName: string): string {
  return `${name}-${nodeName.toLowerCase()}`;
}
