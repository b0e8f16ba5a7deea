// The client configuration of each thread: the kubeconfig, with the latest rotated client certificate.

import type { ClientConfig } from "../config.js";

export interface NodeConfigFiles {
  kubeconfig: string;
  /** Certificate and key that take the place of the kubeconfig's (RenewedPair); "": none ever will. */
  renewedCertificate: string;
  /** As the configuration field. */
  contentType?: string;
  /** The content of the kubeconfig, if another thread has read it: a YAML library costs each thread 3 MiB. */
  config?: ClientConfig;
}

/** Rejects with KubeconfigError. */
export async function loadNodeConfig({
  kubeconfig,
  renewedCertificate,
  contentType,
  ...known
}: NodeConfigFiles): Promise<ClientConfig> {
  const found = known.config ?? (await (await import("./load.js")).loadClientConfig(kubeconfig));
  const config = contentType === undefined ? found : { ...found, contentType };
  if (renewedCertificate === "" || config.clientCertificate === undefined) return config;
  return { ...config, renewedCertificate };
}
