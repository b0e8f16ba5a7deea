// Image pulls, access to images on the node, and image collection. Times are ms.

import type { ConfigReader } from "./reader.js";

export type ImageSettings = Readonly<ReturnType<typeof imageSettings>>;

const VERIFICATION_POLICIES = [
  "NeverVerify",
  "NeverVerifyPreloadedImages",
  "NeverVerifyAllowlistedImages",
  "AlwaysVerify",
] as const;

export function imageSettings(read: ConfigReader) {
  const policy = read.text("imagePullCredentialsVerificationPolicy");
  return {
    serializeImagePulls: read.bool("serializeImagePulls"),
    /** undefined: not set. */
    maxParallelImagePulls: read.config.get("maxParallelImagePulls"),
    /** 0: no limit. */
    registryPullQPS: read.number("registryPullQPS"),
    registryBurst: read.number("registryBurst"),
    kubeletEnsureSecretPulledImages: read.gate("KubeletEnsureSecretPulledImages"),
    /** Validation rejects other values. The field is unset while its gate is off; then the kubelet verifies nothing. */
    imagePullCredentialsVerificationPolicy: VERIFICATION_POLICIES.find((name) => name === policy) ?? "NeverVerify",
    preloadedImagesVerificationAllowlist: read.texts("preloadedImagesVerificationAllowlist"),
    kubeletServiceAccountTokenForCredentialProviders: read.gate("KubeletServiceAccountTokenForCredentialProviders"),
    runtimeClassInImageCriApi: read.gate("RuntimeClassInImageCriApi"),
    imageMinimumGCAgeMs: read.number("imageMinimumGCAge"),
    /** 0: no limit. */
    imageMaximumGCAgeMs: read.number("imageMaximumGCAge"),
    imageGCHighThresholdPercent: read.number("imageGCHighThresholdPercent"),
    imageGCLowThresholdPercent: read.number("imageGCLowThresholdPercent"),
  };
}
