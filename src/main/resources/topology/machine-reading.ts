// The machine's CPUs and NUMA nodes, read when the first asks and the same for all who do.
import type { MachineTopology } from "./machine-topology.js";

export type MachineReading = () => Promise<MachineTopology>;

export function machineReading(): MachineReading {
  let reading: Promise<MachineTopology> | undefined;
  return async () => {
    reading ??= import("./read-machine.js").then(({ readMachineTopology }) => readMachineTopology());
    return await reading;
  };
}
