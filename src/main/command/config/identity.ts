// How a KubeletConfiguration says what it is.
export const CONFIG_API_VERSION = "kubelet.config.k8s.io/v1beta1";
export const CONFIG_KIND = "KubeletConfiguration";
