// Fields of KubeletConfiguration that Kubernetes 1.37 has added: as all unknown fields they are no obstacle to a start,
// and the warning says what they are.

export const LATER_FIELDS: Readonly<Record<string, string>> = {
  defaultPodSysctls:
    "a field of Kubernetes 1.37 (feature gate DefaultPodSysctls), without effect here; set sysctls in spec.securityContext.sysctls of each pod",
};
