// Former fields of KubeletConfiguration: the release that removed each, and its replacement. Configuration v1alpha1
// lived in Kubernetes 1.8 and 1.9; v1beta1 came with 1.10.

const v1alpha1 = (instead: string): string => `a field of v1alpha1, removed in Kubernetes 1.10; ${instead}`;
const SOURCES = "remove it: Pod Security admission restricts host namespaces";

export const REMOVED_FIELDS: Readonly<Record<string, string>> = {
  "logging.sanitization": "removed in Kubernetes 1.24; remove it: secrets are never logged",
  cAdvisorPort: v1alpha1("remove it: container metrics are at /metrics/cadvisor on the kubelet's port"),
  configTrialDuration: v1alpha1("remove it: --dynamic-config-dir has the trial period"),
  podManifestPath: v1alpha1("use staticPodPath"),
  manifestURL: v1alpha1("use staticPodURL"),
  manifestURLHeader: v1alpha1("use staticPodURLHeader"),
  hostNetworkSources: v1alpha1(SOURCES),
  hostPIDSources: v1alpha1(SOURCES),
  hostIPCSources: v1alpha1(SOURCES),
  allowPrivileged: v1alpha1("remove it: privileged containers are always allowed for admitted pods"),
};
