// The response of /configz: the effective configuration in upstream's shape, and on request the origin of every value.

import { join } from "node:path";
import type { EffectiveConfig } from "./effective.js";

/**
 * Both responses as JSON text. GET /configz shows secrets and leaves out zero values, as upstream's does. GET
 * /configz?origin=1 has the origin of each path ("maxPods", "evictionHard[memory.available]",
 * "registerWithTaints[0].effect"); secrets are masked, because the status page, the nodelet command and its support
 * bundle read it. `certDir`: of the self-signed certificate.
 */
export function configzBodies(config: EffectiveConfig, certDir: string): { plain: string; withOrigins: string } {
  const kubeletconfig = config.toMaskedObject();
  const origins = Object.fromEntries([...config.leaves()].map(({ path, node }) => [path, node.origin]));
  const written = { ...config.toWireObject(), ...selfSigned(config, certDir) };
  const inOrder = Object.entries({ ...kubeletconfig, ...written }).filter(([name]) => name in written);
  const plain = JSON.stringify({ kubeletconfig: Object.fromEntries(inOrder) });
  return { plain, withOrigins: JSON.stringify({ kubeletconfig, origins }) };
}

/** Without a certificate of the configuration, upstream writes the paths of its own into it. */
function selfSigned(config: EffectiveConfig, certDir: string): Record<string, string> {
  if (config.get("serverTLSBootstrap") === true) return {};
  if ((config.get("tlsCertFile") ?? "") !== "" || (config.get("tlsPrivateKeyFile") ?? "") !== "") return {};
  return { tlsCertFile: join(certDir, "kubelet.crt"), tlsPrivateKeyFile: join(certDir, "kubelet.key") };
}
