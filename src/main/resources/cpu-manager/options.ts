// cpuManagerPolicyOptions as the static policy reads them. Names, gates and what excludes what are checked with the
// configuration; this file has the rules that need the machine's topology.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { CpuTopology } from "./cpu-topology.js";

export interface StaticOptions {
  /**
   * Pods with pod-level resources. They use shared CPUs (gate PodLevelResourceManagers off), their containers request
   * CPUs (scope container), or the pod does (scope pod).
   */
  podLevel: "shared" | "containers" | "whole";
  /** full-pcpus-only: whole cores or nothing. */
  fullCores: boolean;
  /** distribute-cpus-across-numa */
  acrossNumaNodes: boolean;
  /** align-by-socket: a place is good when its NUMA nodes are on few sockets. */
  alignBySocket: boolean;
  /** distribute-cpus-across-cores */
  acrossCores: boolean;
  /** strict-cpu-reservation: no container runs on the reserved CPUs. */
  strictReservation: boolean;
  /** prefer-align-cpus-by-uncorecache */
  alignUncoreCache: boolean;
}

export function staticOptions(
  given: Readonly<Record<string, string>>,
  podLevel: StaticOptions["podLevel"] = "shared",
): StaticOptions {
  // The texts Go takes for true.
  const isOn = (name: string): boolean => /^(1|t|T|TRUE|true|True)$/.test(given[name] ?? "");
  return {
    podLevel,
    fullCores: isOn("full-pcpus-only"),
    acrossNumaNodes: isOn("distribute-cpus-across-numa"),
    alignBySocket: isOn("align-by-socket"),
    acrossCores: isOn("distribute-cpus-across-cores"),
    strictReservation: isOn("strict-cpu-reservation"),
    alignUncoreCache: isOn("prefer-align-cpus-by-uncorecache"),
  };
}

/** @throws OperatorError for an option that this machine can't serve */
export function checkOptions(options: StaticOptions, topology: CpuTopology): void {
  const [sockets, nodes] = [topology.ids("socket").length, topology.ids("numaNode").length];
  if (options.alignBySocket && sockets > nodes) {
    throw new OperatorError(
      `cpuManagerPolicyOptions[align-by-socket] needs a machine with at least one NUMA node for each socket, this one has ` +
        `${sockets} sockets and ${nodes} NUMA nodes; remove the option`,
    );
  }
}
