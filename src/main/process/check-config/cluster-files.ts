// The kubeconfigs, by the check of the start; and the credential providers of images, by that of the runtime's client.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { Settings } from "../../command/settings.js";
import { loadProviders } from "../../containers/images/credential-providers/load-config.js";
import { checkCluster } from "../cluster.js";
import { error, warning, type Finding } from "./finding.js";
import { stateOf } from "./paths.js";

type ProviderFlags = Pick<Settings, "imageCredentialProviderConfig" | "imageCredentialProviderBinDir"> &
  Pick<Settings["images"], "kubeletServiceAccountTokenForCredentialProviders">;

export async function kubeconfigFindings(
  settings: Pick<Settings, "kubeconfig" | "bootstrapKubeconfig" | "certDir" | "node">,
): Promise<Finding[]> {
  const warnings: Finding[] = [];
  const log = { info: () => undefined, warn: (text: unknown) => void warnings.push(warning("", String(text))) };
  const errors = await refusals("", async () => {
    await checkCluster(settings, log);
  });
  return [...errors, ...warnings];
}

export async function providerFindings(flags: ProviderFlags): Promise<Finding[]> {
  const { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir } = flags;
  if (config === "" && binDir === "") return [];
  if (binDir !== "") {
    const state = await stateOf(binDir);
    const problem = typeof state === "string" ? state : state.isDirectory() ? undefined : `${binDir} is no folder`;
    const path = "--image-credential-provider-bin-dir";
    // Without it every plugin is missing, too.
    if (problem !== undefined) return [error(path, `${problem}; install the plugins there, or leave both flags out`)];
  }
  return await refusals("--image-credential-provider-config", async () => {
    await loadProviders(flags);
  });
}

/** What refuses a start as a finding. */
async function refusals(path: string, check: () => Promise<void>): Promise<Finding[]> {
  try {
    await check();
    return [];
  } catch (thrown) {
    if (!(thrown instanceof OperatorError)) throw thrown;
    return [error(path, thrown.message)];
  }
}
