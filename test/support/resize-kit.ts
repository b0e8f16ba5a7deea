// Rules and counters of in-place resize for tests: those of a node without exclusive CPUs, memory or swap.

import type { ResizesDeps } from "../../src/main/pods/admission/resizes.js";
import type { ResizeRules } from "../../src/main/resources/allocation/resize-rules.js";

export const defaultResizeRules: ResizeRules = {
  podLevel: true,
  exclusiveCPUs: false,
  exclusiveMemory: false,
  staticCPUs: false,
  staticMemory: false,
  limitedSwap: false,
  declaredFeatures: undefined,
};

const ignore = (): void => undefined;

export const noResizeCounters: ResizesDeps["counters"] = {
  requested: ignore,
  infeasible: ignore,
  deferredAccepted: ignore,
  pending: ignore,
  inProgress: ignore,
  ended: ignore,
};
