// Fields that are one word of a few.

import type { Violation } from "../violation.js";
import { type PathOf, oneOf } from "./check.js";
import type { ConfigView } from "./rule.js";

/** By field. */
export const KNOWN: readonly (readonly [PathOf<string>, readonly string[]])[] = [
  ["authorization.mode", ["AlwaysAllow", "Webhook"]],
  ["cgroupDriver", ["cgroupfs", "systemd"]],
  ["configMapAndSecretChangeDetectionStrategy", ["Get", "Cache", "Watch"]],
  ["cpuManagerPolicy", ["none", "static"]],
  ["hairpinMode", ["none", "hairpin-veth", "promiscuous-bridge"]],
  ["logging.format", ["text", "json"]],
  ["memoryManagerPolicy", ["None", "Static"]],
  ["memoryReservationPolicy", ["None", "TieredReservation"]],
  ["topologyManagerPolicy", ["none", "best-effort", "restricted", "single-numa-node"]],
  ["topologyManagerScope", ["container", "pod"]],
];

export function* knownValues(config: ConfigView): Iterable<Violation> {
  for (const [path, known] of KNOWN) yield* oneOf(config, path, known);
}
