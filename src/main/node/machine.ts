// Facts of the machine that limit pods: CPUs for shares and quotas, memory for OOM scores, and swap.

import { access, readdir, readFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";

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

/** The thermal_throttle directories of this machine's CPUs, in CPU order. Containers must not read these sensors. */
export async function readThermalThrottlePaths(directory = "/sys/devices/system/cpu"): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  const numbers = names.flatMap((name) => /^cpu(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  const paths = numbers.sort((a, b) => a - b).map((cpu) => join(directory, `cpu${cpu}`, "thermal_throttle"));
  const there = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_path, index) => there[index]);
}
