// Swap under a kubelet: memory limits and eviction assume that memory is not swapped. Unless failSwapOn is false, the
// kubelet refuses to start with swap, as upstream does.

import { readFile } from "fs/promises";
import { OperatorError } from "../../shared/base/errors/operator-error.js";

/** Names of the swap areas in use, from the text of /proc/swaps (proc_swaps(5)). */
export function swapDevices(text: string): string[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.split(/\s/)[0] ?? "")
    .filter((name) => name !== "");
}

/** @throws OperatorError. A kernel without swap has no such file. */
export async function checkSwap(failSwapOn: boolean, path = "/proc/swaps"): Promise<void> {
  if (!failSwapOn) return;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  });
  const devices = swapDevices(text);
  if (devices.length > 0)
    throw new OperatorError(
      `swap is on (${devices.join(", ")}): turn it off (swapoff -a, and out of /etc/fstab), or let the kubelet run with ` +
        `it: failSwapOn: false in the config file, or --fail-swap-on=false`,
    );
}
