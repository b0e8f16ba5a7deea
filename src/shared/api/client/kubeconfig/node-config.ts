// How each thread of a node gets at its API server: the kubeconfig, with the client certificate that was renewed since.
import type { ClientConfig } from "../config.js";

export interface NodeConfigFiles {
  kubeconfig: string;
  /** Certificate and key that take the place of the kubeconfig's (RenewedPair); "": none ever will. */
  renewedCertificate: string;
  /** What the kubeconfig says, where another thread has read it: a YAML library costs each thread 3 MiB. */
  config?: ClientConfig;
}

/** Rejects with KubeconfigError. */
export async function loadNodeConfig({
  kubeconfig,
  renewedCertificate,
  ...known
}: NodeConfigFiles): Promise<ClientConfig> {
  const config = known.config ?? (await (await import("./load.js")).loadClientConfig(kubeconfig));
  if (renewedCertificate === "" || config.clientCertificate === undefined) return config;
  return { ...config, renewedCertificate };
}
