// All rules of the configuration, one report.
import { cgroups, nodeAllocatable, memory } from "./cgroups.js";
import { containerLogs, logging } from "./logging.js";
import { eviction } from "./parse-eviction.js";
import { imageCredentials, images } from "./images.js";
import { knownValues } from "./check.js";
import { crashLoop, limits, tracing, runtime } from "./limits.js";
import { reservedResources } from "./reserved-resources.js";
import type { ConfigView, HostFacts, Rule, Violation } from "./rule.js";
import { ports, server, tls } from "./server.js";
import { shutdown } from "./shutdown.js";
import { taints } from "./registration.js";
import { topology } from "./topology.js";

export { validateFlags } from "./flags.js";
export { configWarnings } from "./warnings.js";

const RULES: readonly Rule[] = [
  ports,
  tls,
  limits,
  knownValues,
  runtime,
  images,
  imageCredentials,
  cgroups,
  nodeAllocatable,
  reservedResources,
  eviction,
  memory,
  topology,
  taints,
  shutdown,
  crashLoop,
  containerLogs,
  logging,
  tracing,
  server,
];

/** Every violation of the effective configuration (defaults included), in the order of the subjects. */
export function validateConfig(config: ConfigView, host: HostFacts): Violation[] {
  return RULES.flatMap((rule) => [...rule(config, host)]);
}
