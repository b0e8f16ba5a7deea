// A pod for another operating system does not start here.

import type { AdmissionHandler } from "../handler.js";

const OS_LABEL = "kubernetes.io/os";
const HOST_OS = "linux";

export const operatingSystemHandler: AdmissionHandler = ({ pod, node }) => {
  const wanted = pod.metadata.labels?.[OS_LABEL];
  if (wanted !== undefined && wanted !== (node.labels[OS_LABEL] ?? HOST_OS)) {
    return {
      reason: "PodOSSelectorNodeLabelDoesNotMatch",
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  const os = pod.spec.os?.name;
  if (os !== undefined && os !== "" && os !== HOST_OS) {
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  return undefined;
};

export const supplementalGroupsHandler: AdmissionHandler = ({ pod, node }) =>
  pod.spec.securityContext?.supplementalGroupsPolicy === "Strict" && node.supplementalGroupsPolicy === false
    ? {
        reason: "SupplementalGroupsPolicyNotSupported",
        message: "SupplementalGroupsPolicy=Strict is not supported in this node",
      }
    : undefined;
