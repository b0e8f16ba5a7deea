// The number of processes and threads that the kernel allows on the whole machine.

import { readFile } from "fs/promises";

/** The kernel's own default, where neither file can be read. */
const DEFAULT_PIDS = 32768n;

export async function pidCapacity(directory = "/proc/sys/kernel"): Promise<bigint> {
  const texts = await Promise.all(
    ["pid_max", "threads-max"].map((file) => readFile(`${directory}/${file}`, "utf8").catch(() => "")),
  );
  const limits = texts.map((text) => text.trim()).filter((text) => /^\d+$/.test(text));
  const [first = DEFAULT_PIDS, ...rest] = limits.map(BigInt);
  return rest.reduce((least, limit) => (limit < least ? limit : least), first);
}
