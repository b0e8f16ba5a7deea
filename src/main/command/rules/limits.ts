// Numbers with bounds of their own: rates, counts, scores.
import type { ConfigView, Violation } from "./rule.js";
import { inRange, notNegative } from "./check.js";

const NOT_NEGATIVE = [
  "eventBurst",
  "eventRecordQPS",
  "kubeAPIBurst",
  "kubeAPIQPS",
  "registryBurst",
  "registryPullQPS",
  "maxOpenFiles",
  "maxPods",
  "podsPerCore",
] as const;

export function* limits(config: ConfigView): Iterable<Violation> {
  for (const path of NOT_NEGATIVE) yield* notNegative(config, path);
  yield* inRange(config, "nodeLeaseDurationSeconds", 1);
  yield* inRange(config, "nodeStatusMaxImages", -1);
  yield* inRange(config, "oomScoreAdj", -1000, 1000);
  yield* inRange(config, "iptablesMasqueradeBit", 0, 31, "bit");
  yield* inRange(config, "iptablesDropBit", 0, 31, "bit");
}
