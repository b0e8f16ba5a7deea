// The counters of each disk and partition: /proc/diskstats (Documentation/admin-guide/iostats.rst).

import type { ReadText } from "../../../shared/node/stats/kernel-file.js";

export interface DiskCounters {
  /** "vda1" */
  name: string;
  /** "8:1" */
  number: string;
  reads: number;
  readsMerged: number;
  sectorsRead: number;
  readSeconds: number;
  writes: number;
  writesMerged: number;
  sectorsWritten: number;
  writeSeconds: number;
  inProgress: number;
  ioSeconds: number;
  weightedIoSeconds: number;
}

const MILLIS = 1000;

export function readDiskCounters(read: ReadText): DiskCounters[] {
  return parseDiskstats(read("/proc/diskstats") ?? "");
}

/** Lines "8 1 sda1 40 0 280 223 7 0 22 108 0 330 330 …". @internal */
export function parseDiskstats(text: string): DiskCounters[] {
  return text.split("\n").flatMap((line) => {
    const [major = "", minor = "", name = "", ...words] = line.trim().split(/\s+/);
    if (words.length < 11) return [];
    const at = (index: number): number => Number(words[index]);
    return [
      {
        name,
        number: `${major}:${minor}`,
        reads: at(0),
        readsMerged: at(1),
        sectorsRead: at(2),
        readSeconds: at(3) / MILLIS,
        writes: at(4),
        writesMerged: at(5),
        sectorsWritten: at(6),
        writeSeconds: at(7) / MILLIS,
        inProgress: at(8),
        ioSeconds: at(9) / MILLIS,
        weightedIoSeconds: at(10) / MILLIS,
      },
    ];
  });
}
