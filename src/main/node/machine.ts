// What the machine has, as far as pods are measured against it: CPUs for shares and quotas, memory for OOM scores.
import { readFile } from "node:fs/promises";
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

/** Bytes of all swap areas; 0 where there is none. */
export async function readTotalSwap(path = "/proc/meminfo"): Promise<bigint> {
  const text = await readFile(path, "utf8").catch(() => "");
  return BigInt(/^SwapTotal:\s+(\d+) kB$/m.exec(text)?.[1] ?? "0") * 1024n;
}
