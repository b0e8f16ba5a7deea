// API version and kind of a KubeletConfiguration.

export const CONFIG_API_VERSION = "kubelet.config.k8s.io/v1beta1";
export const CONFIG_KIND = "KubeletConfiguration";
