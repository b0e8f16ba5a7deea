// The cgroup tree, node allocatable and swap, and the limits of the kernel's cgroup version.
import { formatDuration } from "../duration.js";
import type { ConfigView, HostFacts, Violation } from "./rule.js";
import { notOneOf, needsGate, oneOf } from "./check.js";

const DEFAULT_PERIOD_MS = 100;

export function* cgroups(config: ConfigView, host: HostFacts): Iterable<Violation> {
  const systemCgroups = config.get("systemCgroups") ?? "";
  // A derived root does not count: systemCgroups must be relative to a configured cgroupRoot.
  const root = config.isSet("cgroupRoot") ? (config.get("cgroupRoot") ?? "") : "";
  if (systemCgroups !== "" && root === "") {
    yield { path: "systemCgroups", message: `"${systemCgroups}" requires cgroupRoot; set it, for example to "/"` };
  }
  yield* quotaPeriod(config);
  if (host.cgroupVersion !== 1) return;
  if (config.get("failCgroupV1") === true) {
    yield {
      path: "failCgroupV1",
      message: "is true and this machine runs cgroup v1; boot with cgroup v2 or set failCgroupV1: false",
    };
  }
  if (config.get("singleProcessOOMKill") === false) {
    yield {
      path: "singleProcessOOMKill",
      message:
        "false is not supported on cgroup v1, which cannot kill a whole cgroup; remove it or boot with cgroup v2",
    };
  }
}

function* quotaPeriod(config: ConfigView): Iterable<Violation> {
  const path = "cpuCFSQuotaPeriod";
  const period = config.get(path);
  if (period === undefined) return;
  if (!config.gate("CustomCPUCFSQuotaPeriod")) {
    if (period === DEFAULT_PERIOD_MS) return;
    yield {
      path,
      message: `${formatDuration(period)} is not 100ms; other values require the feature gate CustomCPUCFSQuotaPeriod, which is off`,
    };
  } else if (period < 1 || period > 1000) {
    yield { path, message: `${formatDuration(period)} is not a duration from 1ms to 1s` };
  }
}

// enforceNodeAllocatable: which part of the node gets a cgroup that holds it within its share.

const PATH = "enforceNodeAllocatable";
const ENTRIES = [
  "none",
  "pods",
  "system-reserved",
  "system-reserved-compressible",
  "kube-reserved",
  "kube-reserved-compressible",
];
const RESERVED = [
  ["system-reserved", "systemReservedCgroup"],
  ["kube-reserved", "kubeReservedCgroup"],
] as const;

export function* nodeAllocatable(config: ConfigView): Iterable<Violation> {
  const listed = config.get(PATH) ?? [];
  const has = new Set(listed);
  for (const entry of has) {
    if (!ENTRIES.includes(entry)) yield { path: PATH, message: notOneOf(entry, ENTRIES) };
    else if (entry !== "none" && config.get("cgroupsPerQOS") === false) {
      yield { path: PATH, message: `${entry} requires cgroupsPerQOS: true; set it, or set ${PATH}: [none]` };
    }
    const times = listed.filter((other) => other === entry).length;
    if (times > 1) yield { path: PATH, message: `lists ${entry} ${times} times; list it once` };
  }
  if (has.has("none") && has.size > 1) {
    yield { path: PATH, message: "none cannot be combined with other entries; remove it or the others" };
  }
  for (const [entry, cgroup] of RESERVED) {
    const compressible = `${entry}-compressible`;
    if (has.has(entry) && has.has(compressible)) {
      yield { path: PATH, message: `lists both ${entry} and ${compressible}; keep one` };
    }
    const needing = [entry, compressible].find((name) => has.has(name));
    if (needing !== undefined && (config.get(cgroup) ?? "") === "") {
      yield { path: PATH, message: `${needing} requires ${cgroup}, which is empty; set it or remove the entry` };
    }
  }
}

// Swap and the memory knobs of cgroup v2.

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
