// What --image-credential-provider-config says, as data. Field names are CredentialProviderConfig's
// (https://kubernetes.io/docs/reference/config-api/kubelet-config.v1/).

/** Versions of the configuration file. */
export const CONFIG_VERSIONS: readonly string[] = ["v1", "v1beta1", "v1alpha1"].map(
  (v) => `kubelet.config.k8s.io/${v}`,
);
/** Versions of what is said to a plugin. */
export const PLUGIN_VERSIONS: readonly string[] = ["v1", "v1beta1", "v1alpha1"].map(
  (v) => `credentialprovider.kubelet.k8s.io/${v}`,
);

export interface CredentialProviderSettings {
  /** The executable's name in --image-credential-provider-bin-dir. */
  name: string;
  matchImages: string[];
  defaultCacheDurationMs: number;
  /** Of the request and the response. */
  apiVersion: string;
  args: string[];
  env: { name: string; value: string }[];
  /** Present: the plugin wants a token of the pod's service account. */
  tokenAttributes?: { requireServiceAccount: boolean };
}

/** The configuration can't be used: the start ends here, as pods would fail later and elsewhere. */
export class CredentialProviderConfigError extends Error {
  override readonly name = "CredentialProviderConfigError";
  readonly code = "CREDENTIAL_PROVIDER_CONFIG";
  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(`image credential providers: ${problems.join("; ")}`, options);
  }
}

export function isCredentialProviderConfigError(error: unknown): error is CredentialProviderConfigError {
  return error instanceof CredentialProviderConfigError;
}
