// CPU, memory and topology managers.

import { nearestName } from "../../../shared/base/text/nearest-name.js";
import { quoteStart } from "../../../shared/base/text/quote.js";
import type { GateName } from "../gates/table.js";
import type { Violation } from "../violation.js";
import { needsGate } from "./check.js";
import { parseReserved } from "./parse-reserved.js";
import type { ConfigView } from "./rule.js";

const CPU_OPTIONS: ReadonlyMap<string, GateName | undefined> = new Map<string, GateName | undefined>([
  ["full-pcpus-only", undefined],
  ["strict-cpu-reservation", undefined],
  ["prefer-align-cpus-by-uncorecache", undefined],
  ["distribute-cpus-across-numa", "CPUManagerPolicyBetaOptions"],
  ["align-by-socket", "CPUManagerPolicyAlphaOptions"],
  ["distribute-cpus-across-cores", "CPUManagerPolicyAlphaOptions"],
]);
const EXCLUDE_EACH_OTHER = [
  ["full-pcpus-only", "distribute-cpus-across-cores"],
  ["distribute-cpus-across-numa", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"],
] as const;
const TOPOLOGY_OPTIONS = ["prefer-closest-numa-nodes", "max-allowable-numa-nodes"];
const MIN_NUMA_LIMIT = 8;
/** The texts Go takes for a boolean. */
const BOOL = /^(1|t|T|TRUE|true|True|0|f|F|FALSE|false|False)$/;
const isOn = (text: string | undefined): boolean => text !== undefined && /^(1|t|T|TRUE|true|True)$/.test(text);

export function* topology(config: ConfigView): Iterable<Violation> {
  yield* cpuOptions(config);
  yield* staticPolicies(config);
  yield* topologyOptions(config);
}

function* cpuOptions(config: ConfigView): Iterable<Violation> {
  const path = "cpuManagerPolicyOptions";
  const options = config.get(path) ?? {};
  const names = Object.keys(options);
  if (names.length > 0 && config.get("cpuManagerPolicy") === "none") {
    yield { path, message: "has an effect only with cpuManagerPolicy: static; set it or remove the options" };
  }
  for (const [name, text] of Object.entries(options)) {
    const at = `${path}[${name}]`;
    const gate = CPU_OPTIONS.get(name);
    if (!CPU_OPTIONS.has(name)) yield { path: at, message: unknownOption(name, [...CPU_OPTIONS.keys()]) };
    else if (gate !== undefined && !config.gate(gate)) yield needsGate(at, gate);
    else if (!BOOL.test(text)) yield { path: at, message: `${quoteStart(text)} is not true or false` };
  }
  for (const [one, other] of EXCLUDE_EACH_OTHER) {
    if (isOn(options[one]) && isOn(options[other]))
      yield { path, message: `${one} and ${other} are mutually exclusive` };
  }
  if (isOn(options["align-by-socket"]) && config.get("topologyManagerPolicy") === "single-numa-node") {
    yield { path, message: "align-by-socket and topologyManagerPolicy: single-numa-node are mutually exclusive" };
  }
}

/** Static policies assign the CPUs or memory that are not reserved: without a reservation they refuse to start. */
function* staticPolicies(config: ConfigView): Iterable<Violation> {
  if (config.get("cpuManagerPolicy") === "static" && (config.get("reservedSystemCPUs") ?? "") === "") {
    const reserved = (["kubeReserved", "systemReserved"] as const).some(
      (path) => (parseReserved(path, config.get(path) ?? {}).resources.cpu?.nanos ?? 0n) > 0n,
    );
    if (!reserved) {
      yield {
        path: "cpuManagerPolicy",
        message: "static requires reserved CPUs; set reservedSystemCPUs, kubeReserved.cpu or systemReserved.cpu",
      };
    }
  }
  if (config.get("memoryManagerPolicy") === "Static" && (config.get("reservedMemory") ?? []).length === 0) {
    yield { path: "memoryManagerPolicy", message: "Static requires reservedMemory for at least one NUMA node" };
  }
}

/** Upstream reads the options only for a policy that has a use for them. */
function* topologyOptions(config: ConfigView): Iterable<Violation> {
  const isUsed = (config.get("topologyManagerPolicy") ?? "none") !== "none";
  for (const violation of optionViolations(config)) yield isUsed ? violation : { ...violation, isTolerated: true };
}

function* optionViolations(config: ConfigView): Iterable<Violation> {
  const path = "topologyManagerPolicyOptions";
  const options = config.get(path);
  if (options === undefined) return;
  if (!config.gate("TopologyManagerPolicyOptions")) {
    yield needsGate(path, "TopologyManagerPolicyOptions");
    return;
  }
  for (const [name, text] of Object.entries(options)) {
    const at = `${path}[${name}]`;
    if (!TOPOLOGY_OPTIONS.includes(name)) yield { path: at, message: unknownOption(name, TOPOLOGY_OPTIONS) };
    else if (name === "prefer-closest-numa-nodes") {
      if (!BOOL.test(text)) yield { path: at, message: `${quoteStart(text)} is not true or false` };
    } else if (!isInteger(text) || Number(text) < MIN_NUMA_LIMIT) {
      yield { path: at, message: `${quoteStart(text)} is not a whole number of at least ${MIN_NUMA_LIMIT}` };
    }
  }
}

/** A number of 64 bits, as Go reads it. */
function isInteger(text: string): boolean {
  return /^\+?\d{1,19}$/.test(text) && BigInt(text.replace("+", "")) < 2n ** 63n;
}

function unknownOption(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `${quoteStart(name)} is not a known option; ${meant === undefined ? `known options are ${known.join(", ")}` : `did you mean ${meant}?`}`;
}
