// The assignment of a configuration to a node. The shapes are spec.configSource and status.config of a Node of
// Kubernetes 1.23 (NodeConfigSource, NodeConfigStatus). Newer API servers drop those fields, so annotations of the Node
// carry them (docs/dynamic-configuration.md).

/** Set by an administrator: "namespace/name", "namespace/name/key", or NodeConfigSource as JSON. */
export const CONFIG_SOURCE_ANNOTATION = "nodelet.dev/config-source";
/** Set by the kubelet: NodeConfigStatus as JSON. */
export const CONFIG_STATUS_ANNOTATION = "nodelet.dev/config-status";
/** The key of the ConfigMap that the assignment does not name; kubeadm writes this key. */
export const DEFAULT_CONFIG_KEY = "kubelet";

export interface ConfigMapReference {
  readonly namespace: string;
  readonly name: string;
  readonly kubeletConfigKey: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The node's configurations; an absent reference is the node's local configuration, as upstream has it. */
export interface NodeConfigReport {
  readonly assigned?: ConfigMapReference;
  readonly active?: ConfigMapReference;
  readonly lastKnownGood?: ConfigMapReference;
  /** The active configuration is the last known good one. */
  readonly activeIsGood: boolean;
  readonly error?: string;
}

/** The ConfigMap's path in the API, as upstream's metrics, events and conditions name it. */
export function configMapLink({ namespace, name }: ConfigMapReference): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

/** For messages, with the place in the text after it: "ConfigMap kube-system/workers/kubelet:3:5". */
export function configMapText({ namespace, name, kubeletConfigKey }: ConfigMapReference): string {
  return `ConfigMap ${namespace}/${name}/${kubeletConfigKey}`;
}
