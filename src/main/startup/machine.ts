// What the machine has, as far as pods are measured against it: CPUs for shares and quotas, memory for OOM scores.
import { cpus, totalmem } from "node:os";

export interface Machine {
  /** CPUs online. */
  cpus: number;
  /** Physical memory, bytes. */
  memoryBytes: number;
}

export function readMachine(): Machine {
  return { cpus: cpus().length, memoryBytes: totalmem() };
}
