// What discovery says of a resource: verbs and subresources.

import type { Resource } from "../objects/resource.js";

export interface Subresource {
  name: string;
  /** Group and version of the kind, if they are not those of the resource. */
  of?: Pick<Resource, "group" | "version">;
  kind: string;
  verbs: readonly string[];
}

/** Subresources of the kubelet, which no table of resources has: they keep nothing. */
const SERVED_BY_KUBELET: Readonly<Record<string, readonly Subresource[]>> = {
  pods: [
    { name: "attach", kind: "PodAttachOptions", verbs: ["create", "get"] },
    { name: "exec", kind: "PodExecOptions", verbs: ["create", "get"] },
    { name: "log", kind: "Pod", verbs: ["get"] },
    { name: "portforward", kind: "PodPortForwardOptions", verbs: ["create", "get"] },
  ],
  nodes: [{ name: "proxy", kind: "NodeProxyOptions", verbs: ["create", "delete", "get", "patch", "update"] }],
};
const ACTIONS: Readonly<Record<string, Omit<Subresource, "name" | "verbs">>> = {
  binding: { kind: "Binding" },
  eviction: { kind: "Eviction", of: { group: "policy", version: "v1" } },
  token: { kind: "TokenRequest", of: { group: "authentication.k8s.io", version: "v1" } },
};

export function subresourcesOf({ key, kind, status, subresources }: Resource): Subresource[] {
  const kept = [...subresources, ...(status ? ["status"] : [])].map((name) => {
    const action = ACTIONS[name];
    return action === undefined
      ? { name, kind, verbs: ["get", "patch", "update"] }
      : { name, ...action, verbs: ["create"] };
  });
  return [...kept, ...(SERVED_BY_KUBELET[key] ?? [])];
}

/** What `kubectl get all` lists; undefined: nothing of this resource. */
export function categoriesOf({ key }: Resource): readonly string[] | undefined {
  return key === "pods" ? ["all"] : undefined;
}

/** Versions of one group, the preferred one first: v1 before v1beta1. @param ofGroup its resources */
export function versionsOf(ofGroup: readonly Resource[]): string[] {
  return [...new Set(ofGroup.map(({ version }) => version))].sort((one, other) => one.length - other.length);
}
