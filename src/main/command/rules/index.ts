// All rules of the configuration, one report.

import type { Violation } from "../violation.js";
import { cgroups } from "./cgroups.js";
import { containerLogs } from "./container-logs.js";
import { imageCredentials } from "./image-credentials.js";
import { images } from "./images.js";
import { knownValues } from "./known-values.js";
import { crashLoop, limits, tracing } from "./limits.js";
import { logging } from "./logging.js";
import { memory } from "./memory.js";
import { nodeAllocatable } from "./node-allocatable.js";
import { eviction } from "./parse-eviction.js";
import { taints } from "./registration.js";
import { reservedResources } from "./reserved-resources.js";
import type { ConfigView, HostFacts, Rule } from "./rule.js";
import { runtime } from "./runtime.js";
import { ports, server } from "./server.js";
import { shutdown } from "./shutdown.js";
import { unsafeSysctls } from "./sysctls.js";
import { tls } from "./tls.js";
import { topology } from "./topology.js";

export { validateFlags } from "./flags.js";
export { configWarnings } from "./warnings.js";

const RULES: readonly Rule[] = [
  ports,
  tls,
  limits,
  knownValues,
  runtime,
  unsafeSysctls,
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
