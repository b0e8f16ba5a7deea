// Swap and the memory knobs of cgroup v2.

import type { Violation } from "../violation.js";
import { needsGate, oneOf } from "./check.js";
import type { ConfigView, HostFacts } from "./rule.js";

export function* memory(config: ConfigView, host: HostFacts): Iterable<Violation> {
  yield* swap(config, host);
  const factor = config.get("memoryThrottlingFactor");
  if (factor === undefined && config.gate("MemoryQoS")) {
    yield { path: "memoryThrottlingFactor", message: "is empty while MemoryQoS is on; set it (the default is 0.9)" };
  }
  if (factor !== undefined && !(factor > 0 && factor <= 1)) {
    yield { path: "memoryThrottlingFactor", message: `${factor} is not a number above 0 and up to 1` };
  }
  if (config.get("memoryReservationPolicy") === "TieredReservation" && !config.gate("MemoryQoS")) {
    yield needsGate("memoryReservationPolicy", "MemoryQoS");
  }
}

function* swap(config: ConfigView, host: HostFacts): Iterable<Violation> {
  const path = "memorySwap.swapBehavior";
  const behavior = config.get(path) ?? "";
  if (!config.gate("NodeSwap")) {
    if (behavior !== "") yield needsGate(path, "NodeSwap");
    return;
  }
  yield* oneOf(config, path, ["", "NoSwap", "LimitedSwap"]);
  if (behavior === "LimitedSwap" && host.cgroupVersion === 1) {
    yield { path, message: "LimitedSwap requires cgroup v2 and this machine runs cgroup v1; set NoSwap" };
  }
}
