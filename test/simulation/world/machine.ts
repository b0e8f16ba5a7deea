// The parts of the simulated machine that replaced modules reach: made before the agent starts.

import type { SimulatedApi } from "./api.js";
import type { SimulatedRuntime } from "./runtime.js";

interface Machine {
  /** CPUs that Node counts. */
  cpus: number;
  runtime: SimulatedRuntime;
  api: SimulatedApi;
}

/** Filled by the run (world/world.ts). */
export const machine = {} as Machine;
