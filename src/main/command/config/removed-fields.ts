// Names that a KubeletConfiguration carried once: since when they are gone, and what does their work now. Configuration
// v1alpha1 lived in Kubernetes 1.8 and 1.9; v1beta1 came with 1.10.

const v1alpha1 = (instead: string): string => `a name of v1alpha1, gone since 1.10; ${instead}`;
const SOURCES = "whether pods may use the host's namespaces is decided by admission now, leave it out";

export const REMOVED_FIELDS: Readonly<Record<string, string>> = {
  "logging.sanitization": "gone since 1.24; secrets are kept out of the log always, leave it out",
  cAdvisorPort: v1alpha1("container metrics are at /metrics/cadvisor on the kubelet's port, leave it out"),
  configTrialDuration: v1alpha1("the trial period belongs to --dynamic-config-dir, leave it out"),
  podManifestPath: v1alpha1("use staticPodPath"),
  manifestURL: v1alpha1("use staticPodURL"),
  manifestURLHeader: v1alpha1("use staticPodURLHeader"),
  hostNetworkSources: v1alpha1(SOURCES),
  hostPIDSources: v1alpha1(SOURCES),
  hostIPCSources: v1alpha1(SOURCES),
  allowPrivileged: v1alpha1("privileged containers are always allowed to pods that pass admission, leave it out"),
};
