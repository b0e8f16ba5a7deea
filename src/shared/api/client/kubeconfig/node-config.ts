// How each thread of a node gets at its API server: the kubeconfig, with the client certificate that was renewed since.
import { access } from "node:fs/promises";
import type { ClientConfig } from "../config.js";

export interface NodeConfigFiles {
  kubeconfig: string;
  /** Certificate and key that take the place of the kubeconfig's, once they are there; "": none ever will. */
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
  const renewed = await access(renewedCertificate).then(
    () => true,
    () => false,
  );
  return renewed ? withPair(config, renewedCertificate) : config;
}

/** `file` holds certificate and key. */
export function withPair(config: ClientConfig, file: string): ClientConfig {
  return { ...config, clientCertificate: { certificate: { file }, key: { file } } };
}
