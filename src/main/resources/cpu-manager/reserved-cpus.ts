// The CPUs that are never allocated are those of reservedSystemCPUs. Without it, they are as many as kubeReserved and
// systemReserved, from the first core on.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { printCpuList } from "../../../shared/kubernetes/api/cpu-list.js";
import { type CpuSet, without } from "./cpu-set.js";
import type { CpuTopology } from "./cpu-topology.js";
import { takePacked } from "./take-cpus.js";

const MILLI_PER_CPU = 1000n;

interface CpuReservation {
  /** reservedSystemCPUs; empty: by amount. */
  cpus: readonly number[];
  /** kubeReserved.cpu and systemReserved.cpu together; a part of a CPU counts whole. */
  milliCpu: bigint;
}

/** @throws OperatorError when nothing is reserved, or more than there is */
export function reservedCpus(topology: CpuTopology, { cpus, milliCpu }: CpuReservation): CpuSet {
  if (cpus.length > 0) {
    const absent = without(cpus, topology.all);
    if (absent.size === 0) return new Set(cpus);
    throw new OperatorError(
      `reservedSystemCPUs names CPUs that are not online: ${printCpuList(absent)} of ${printCpuList(cpus)}, online are ` +
        `${printCpuList(topology.all)}; name others`,
    );
  }
  const count = Number((milliCpu + MILLI_PER_CPU - 1n) / MILLI_PER_CPU);
  if (count === 0) {
    throw new OperatorError(
      "the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero; set reservedSystemCPUs, " +
        "kubeReserved.cpu or systemReserved.cpu, or cpuManagerPolicy: none",
    );
  }
  const taken = takePacked(topology, topology.all, count);
  if (taken !== undefined) return taken;
  throw new OperatorError(
    `kubeReserved.cpu and systemReserved.cpu are ${count} CPUs together and the machine has ${topology.all.size}; reserve less`,
  );
}
