// Builds the object reference of an event.
import type { ObjectReference } from "../../shared/api/event.js";
import type { Pod } from "../../shared/api/pod.js";

/** A pod, or one of its containers: "spec.containers{web}", "spec.initContainers{fetch}". */
export function podReference(pod: Pod, container?: string): ObjectReference {
  const { name, namespace, uid } = pod.metadata;
  return {
    kind: "Pod",
    namespace,
    name,
    uid,
    apiVersion: "v1",
    ...(container !== undefined && { fieldPath: containerFieldPath(pod, container) }),
  };
}

/** Events about nodes carry the node's name as UID: a kubelet need not have read its Node object to tell them. */
export function nodeReference(nodeName: string): ObjectReference {
  return { kind: "Node", name: nodeName, uid: nodeName };
}

function containerFieldPath({ spec }: Pod, name: string): string {
  const has = (containers: readonly { name: string }[] = []): boolean => containers.some((one) => one.name === name);
  if (has(spec.initContainers)) return `spec.initContainers{${name}}`;
  if (has(spec.ephemeralContainers)) return `spec.ephemeralContainers{${name}}`;
  return `spec.containers{${name}}`;
}
