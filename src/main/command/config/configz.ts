// The response of /configz: the effective configuration in upstream's shape, and on request the origin of every value.
// Upstream shows staticPodURLHeader; here secrets are masked.
import type { EffectiveConfig } from "./effective.js";
import type { Origin } from "./tree.js";

export interface Configz {
  readonly kubeletconfig: Record<string, unknown>;
}

export interface ConfigzWithOrigins extends Configz {
  /** By path: "maxPods", "evictionHard[memory.available]", "registerWithTaints[0].effect". */
  readonly origins: Record<string, Origin>;
}

export function configzBody(config: EffectiveConfig): Configz {
  return { kubeletconfig: config.toMaskedObject() };
}

/** GET /configz?origin=1 */
export function configzBodyWithOrigins(config: EffectiveConfig): ConfigzWithOrigins {
  const origins = Object.fromEntries([...config.leaves()].map(({ path, node }) => [path, node.origin]));
  return { ...configzBody(config), origins };
}

/** Both responses as JSON text. */
export function configzBodies(config: EffectiveConfig): { plain: string; withOrigins: string } {
  return { plain: JSON.stringify(configzBody(config)), withOrigins: JSON.stringify(configzBodyWithOrigins(config)) };
}
