// Faults that are put into the agent on purpose. Each must be found within the seeds of
// `npm run simulate -- --mutants`.

import type { Mutant } from "../driver/mutant.js";
import { EVICTION_MUTANTS } from "./evictions.js";
import { IMAGE_MUTANTS } from "./images.js";
import { LOG_MUTANTS } from "./logs.js";
import { OWN_API_MUTANTS } from "./own-api.js";
import { POD_MUTANTS } from "./pods.js";
import { RESOURCE_MUTANTS } from "./resources.js";
import { SHUTDOWN_MUTANTS } from "./shutdowns.js";
import { STREAM_MUTANTS } from "./streams.js";
import { VOLUME_MUTANTS } from "./volumes.js";

export const MUTANTS: readonly Mutant[] = [
  ...POD_MUTANTS,
  ...RESOURCE_MUTANTS,
  ...VOLUME_MUTANTS,
  ...IMAGE_MUTANTS,
  ...EVICTION_MUTANTS,
  ...SHUTDOWN_MUTANTS,
  ...OWN_API_MUTANTS,
  ...LOG_MUTANTS,
  ...STREAM_MUTANTS,
];
