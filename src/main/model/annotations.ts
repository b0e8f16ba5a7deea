// Annotations that the kubelet sets on the pods of its sources.

export const CONFIG_SEEN = "kubernetes.io/config.seen";
