// The response of /configz: the effective configuration in upstream's shape, and on request the origin of every value.

import type { EffectiveConfig } from "./effective.js";

/**
 * Both responses as JSON text. GET /configz shows secrets and leaves out zero values, as upstream's does. GET
 * /configz?origin=1 has the origin of each path ("maxPods", "evictionHard[memory.available]",
 * "registerWithTaints[0].effect"); secrets are masked, because the status page, the nodelet command and its support
 * bundle read it.
 */
export function configzBodies(config: EffectiveConfig): { plain: string; withOrigins: string } {
  const kubeletconfig = config.toMaskedObject();
  const origins = Object.fromEntries([...config.leaves()].map(({ path, node }) => [path, node.origin]));
  const plain = JSON.stringify({ kubeletconfig: config.toWireObject() });
  return { plain, withOrigins: JSON.stringify({ kubeletconfig, origins }) };
}
