// The content of --image-credential-provider-config. Field names are CredentialProviderConfig's
// (https://kubernetes.io/docs/reference/config-api/kubelet-config.v1/).

import { OperatorError } from "../../../../shared/base/errors/operator-error.js";
/** API versions with service account tokens: of the configuration file, and of the request to a plugin. */
export const TOKEN_CONFIG_VERSION = "kubelet.config.k8s.io/v1";
export const TOKEN_PLUGIN_VERSION = "credentialprovider.kubelet.k8s.io/v1";
/** Versions of the configuration file. */
export const CONFIG_VERSIONS: readonly string[] = [
  TOKEN_CONFIG_VERSION,
  "kubelet.config.k8s.io/v1beta1",
  "kubelet.config.k8s.io/v1alpha1",
];
/** API versions of the request to a plugin. */
export const PLUGIN_VERSIONS: readonly string[] = [
  TOKEN_PLUGIN_VERSION,
  "credentialprovider.kubelet.k8s.io/v1beta1",
  "credentialprovider.kubelet.k8s.io/v1alpha1",
];

/** The cache key of credentials for a token: the service account, or the token itself. */
export const TOKEN_CACHE_TYPES = ["ServiceAccount", "Token"] as const;
export type TokenCacheType = (typeof TOKEN_CACHE_TYPES)[number];

export interface TokenAttributes {
  serviceAccountTokenAudience: string;
  cacheType: TokenCacheType;
  /** Pods without a service account are not served. */
  requireServiceAccount: boolean;
  /**
   * Annotations of the service account that the plugin receives; an account without one of these gets no credentials.
   */
  requiredServiceAccountAnnotationKeys: readonly string[];
  optionalServiceAccountAnnotationKeys: readonly string[];
}

export interface CredentialProviderSettings {
  /** The executable's name in --image-credential-provider-bin-dir. */
  name: string;
  matchImages: string[];
  defaultCacheDurationMs: number;
  /** Version of the credential provider API in which request and response are written. */
  apiVersion: string;
  args: string[];
  env: { name: string; value: string }[];
  /** Present: the plugin wants a token of the pod's service account. */
  tokenAttributes?: TokenAttributes | undefined;
}

/** The configuration can't be used: the start ends here, as pods would fail later and elsewhere. */
export function credentialProviderConfigError(problems: readonly string[], options?: ErrorOptions): OperatorError {
  return new OperatorError(`image credential providers: ${problems.join("; ")}`, options);
}
