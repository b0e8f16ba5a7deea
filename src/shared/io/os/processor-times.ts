// What the processors of the machine have done since its start: the first line of /proc/stat (proc_stat(5)).

import { open } from "node:fs/promises";

/** Clock ticks of all processors together, of which USER_HZ, mostly 100, make a second. */
export interface ProcessorTimes {
  busy: number;
  /** Busy, without work, and waiting for disks. */
  all: number;
  /** Without work; a processor that waits for a disk is not counted. */
  idle: number;
}

/** More than the first line of any machine has. */
const LINE_BYTES = 512;

/** user nice system idle iowait irq softirq steal; zeros for an empty text. */
export function processorTimes(stat: string): ProcessorTimes {
  const [, ...fields] = (stat.split("\n", 1)[0] ?? "").split(/ +/);
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = fields.map(Number);
  const busy = user + nice + system + irq + softirq + steal;
  return { busy, all: busy + idle + iowait, idle };
}

/** Rejects with a system error on a machine without /proc/stat. */
export async function readProcessorTimes(path = "/proc/stat"): Promise<ProcessorTimes> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(LINE_BYTES), 0, LINE_BYTES, 0);
    return processorTimes(buffer.toString("latin1", 0, bytesRead));
  } finally {
    await file.close();
  }
}
