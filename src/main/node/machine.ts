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

// Swap under a kubelet: memory limits and eviction assume that memory is not swapped. Unless failSwapOn is false, the
// kubelet refuses to start with swap, as upstream does.

/** Swap is on and failSwapOn is true. */
class SwapOnError extends Error {
  override readonly name = "SwapOnError";
  readonly code = "SWAP_ON";
  constructor(readonly devices: readonly string[]) {
    super(
      `swap is on (${devices.join(", ")}): turn it off (swapoff -a, and out of /etc/fstab), or let the kubelet run with ` +
        `it: failSwapOn: false in the config file, or --fail-swap-on=false`,
    );
  }
}
export const isSwapOnError = (error: unknown): error is SwapOnError => error instanceof SwapOnError;

/** Names of the swap areas in use, from the text of /proc/swaps (proc_swaps(5)). */
export function swapDevices(text: string): string[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.split(/\s/)[0] ?? "")
    .filter((name) => name !== "");
}

/** @throws SwapOnError. A kernel without swap has no such file. */
export async function checkSwap(failSwapOn: boolean, path = "/proc/swaps"): Promise<void> {
  if (!failSwapOn) return;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  });
  const devices = swapDevices(text);
  if (devices.length > 0) throw new SwapOnError(devices);
}
