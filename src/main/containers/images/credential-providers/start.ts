// Credential providers of a node: nothing of them is loaded if the flags are not set.

import type { ProviderCredentials } from "../keyring/keyring-credentials.js";
import type { ProviderFlags } from "./load-config.js";
import type { ProvidersDeps } from "./providers.js";

/** undefined: none are configured. Rejects with OperatorError. */
export async function startCredentialProviders(
  flags: ProviderFlags,
  deps: ProvidersDeps,
): Promise<ProviderCredentials | undefined> {
  if (flags.imageCredentialProviderConfig === "" && flags.imageCredentialProviderBinDir === "") return undefined;
  const [{ loadProviders }, { CredentialProviders }] = await Promise.all([
    import("./load-config.js"),
    import("./providers.js"),
  ]);
  return new CredentialProviders(await loadProviders(flags), deps);
}
