// Data of the machine for nodeInfo: identities, kernel, distribution, swap. Read from the same files as cAdvisor's.

import { release } from "node:os";
import { readRegularText } from "../../shared/io/fs/regular-file.js";

export interface Machine {
  machineID: string;
  systemUUID: string;
  bootID: string;
  kernelVersion: string;
  osImage: string;
  /** Bytes; 0: no swap. */
  swapCapacity: number;
}

export type ReadText = (path: string) => Promise<string>;

const MACHINE_IDS = ["/etc/machine-id", "/var/lib/dbus/machine-id"];
const SYSTEM_UUIDS = [
  "/sys/class/dmi/id/product_uuid",
  "/proc/device-tree/system-id",
  "/proc/device-tree/vm,uuid",
  "/etc/machine-id",
];
const OS_RELEASES = ["/etc/os-release", "/usr/lib/os-release"];

/** Never rejects: what can't be read is "". */
export async function readMachine(read: ReadText = readRegularText): Promise<Machine> {
  const first = async (paths: readonly string[]): Promise<string> => {
    for (const path of paths) {
      const text = await read(path).catch(() => "");
      // Device trees end their strings with a zero byte.
      const trimmed = text.replaceAll("\0", "").trim();
      if (trimmed !== "") return trimmed;
    }
    return "";
  };
  const [machineID, systemUUID, bootID, osRelease, memory] = await Promise.all([
    first(MACHINE_IDS),
    first(SYSTEM_UUIDS),
    first(["/proc/sys/kernel/random/boot_id"]),
    first(OS_RELEASES),
    first(["/proc/meminfo"]),
  ]);
  return {
    machineID,
    systemUUID,
    bootID,
    kernelVersion: release(),
    osImage: osImage(osRelease),
    swapCapacity: swap(memory),
  };
}

/** "Debian GNU/Linux 12 (bookworm)" */
function osImage(osRelease: string): string {
  const [, quoted = "Unknown"] = /^PRETTY_NAME=(.*)$/m.exec(osRelease) ?? [];
  return quoted.trim().replace(/^(["'])(.*)\1$/, "$2");
}

function swap(memory: string): number {
  const [, kibibytes = "0"] = /^SwapTotal:\s*(\d+) kB$/m.exec(memory) ?? [];
  return Number(kibibytes) * 1024;
}
