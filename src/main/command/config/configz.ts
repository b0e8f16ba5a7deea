// The response of /configz: the effective configuration in upstream's shape, and on request the origin of every value.
// Upstream shows staticPodURLHeader; here secrets are masked.
import type { EffectiveConfig } from "./effective.js";

/**
 * Both responses as JSON text: of GET /configz, and of GET /configz?origin=1 with the origin of each path: "maxPods",
 * "evictionHard[memory.available]", "registerWithTaints[0].effect".
 */
export function configzBodies(config: EffectiveConfig): { plain: string; withOrigins: string } {
  const kubeletconfig = config.toMaskedObject();
  const origins = Object.fromEntries([...config.leaves()].map(({ path, node }) => [path, node.origin]));
  return { plain: JSON.stringify({ kubeletconfig }), withOrigins: JSON.stringify({ kubeletconfig, origins }) };
}
