// The counters of v1's blkio controller. The disks' scheduler decides which files have values: those of BFQ, of CFQ
// (old kernels), or of throttling (every kernel). As in upstream's library, the first file that names a device counts.

import type { BlockFigures, Operations } from "../cgroup-figures.js";
import type { ReadText } from "../kernel-file.js";

interface Source {
  prefix: string;
  suffix: string;
}

const SOURCES: readonly Source[] = [
  { prefix: "blkio.bfq.", suffix: "_recursive" },
  { prefix: "blkio.", suffix: "_recursive" },
  { prefix: "blkio.throttle.", suffix: "_recursive" },
  { prefix: "blkio.throttle.", suffix: "" },
];

/** Files that only kernels with BFQ debugging statistics, or with CFQ, have. */
const FURTHER = {
  sectors: "sectors",
  serviceTime: "io_service_time",
  merged: "io_merged",
  queued: "io_queued",
} as const;

type Member = keyof typeof FURTHER;
const MEMBERS = Object.keys(FURTHER) as Member[];

export class BlkioReader {
  /** The machine's sources, found at the root: a file that is missing there is missing everywhere. */
  private sources: readonly { source: Source; further: boolean; counts: boolean }[] | undefined;

  constructor(
    private readonly mountPoint: string,
    private readonly read: ReadText,
  ) {}

  figures(path: string): BlockFigures[] {
    // If the sums at the root name no device, no cgroup below has any; the next reading of the root checks again.
    if (path === "/" || this.sources === undefined) this.sources = this.findSources();
    for (const { source, further, counts } of this.sources) {
      if (!counts) continue;
      const bytes = parseBlkio(this.text(path, source, "io_service_bytes"));
      if (bytes.size === 0) continue;
      const devices = new Map<string, BlockFigures>();
      const take = (member: Member | "bytes" | "served", table: ReadonlyMap<string, Operations>): void => {
        for (const [device, operations] of table) {
          devices.set(device, { device, ...devices.get(device), [member]: operations });
        }
      };
      take("bytes", bytes);
      take("served", parseBlkio(this.text(path, source, "io_serviced")));
      for (const member of further ? MEMBERS : []) take(member, parseBlkio(this.text(path, source, FURTHER[member])));
      return [...devices.values()];
    }
    return [];
  }

  private findSources(): NonNullable<BlkioReader["sources"]> {
    return SOURCES.flatMap((source) => {
      const text = this.text("/", source, "io_service_bytes");
      if (text === undefined) return [];
      const further = this.text("/", source, "sectors") !== undefined;
      return [{ source, further, counts: source.suffix === "" || parseBlkio(text).size > 0 }];
    }).filter(({ source: { suffix } }, _index, all) => suffix !== "" || all.every((one) => one.source.suffix === ""));
  }

  private text(path: string, { prefix, suffix }: Source, name: string): string | undefined {
    return this.read(`${this.mountPoint}${path === "/" ? "" : path}/${prefix}${name}${suffix}`);
  }
}

/**
 * By device "8:0". Lines "8:0 Read 4096", or "8:0 4096" where there are no operations; the sum "Total 4096" is left
 * out.
 */
function parseBlkio(text: string | undefined): Map<string, Operations> {
  const devices = new Map<string, Record<string, number>>();
  for (const line of (text ?? "").split("\n")) {
    const [device = "", ...words] = line.split(" ");
    const [operation = "", count] = words.length === 1 ? ["", ...words] : words;
    if (!/^\d+:\d+$/.test(device) || count === undefined) continue;
    const operations = devices.get(device) ?? {};
    operations[operation] = Number(count);
    devices.set(device, operations);
  }
  return devices;
}
