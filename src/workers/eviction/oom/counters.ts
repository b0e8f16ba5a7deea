// Where the kernel's log is not to be had: that the OOM killer took something is seen at /proc/vmstat's count, and whose it was at
// the counts of the containers' cgroups. Neither tells which process it was, nor whether the machine's memory was out.
import { keyed, type ReadText } from "../../../shared/stats/kernel-file.js";
import type { CgroupReader } from "../../../shared/stats/cgroup-figures.js";

export interface OomCountersParts {
  read: ReadText;
  reader: Pick<CgroupReader, "children" | "details">;
  /** Cgroups of the pods that run. */
  pods: () => readonly string[];
}

export class OomCounters {
  /** Of the whole machine; undefined: not looked at yet. */
  private kills: number | undefined;
  private counts = new Map<string, number>();

  constructor(private readonly parts: OomCountersParts) {}

  /** Cgroups of containers in which processes were killed since the last look. */
  look(): string[] {
    const kills = keyed(this.parts.read("/proc/vmstat") ?? "", "oom_kill");
    // Kernels before 4.13 do not count.
    if (kills === undefined || kills === this.kills) return [];
    const first = this.kills === undefined;
    this.kills = kills;
    const before = this.counts;
    this.counts = this.countAll();
    if (first) return [];
    // A cgroup that was not there before began with 0.
    return [...this.counts].flatMap(([path, count]) => (count > (before.get(path) ?? 0) ? [path] : []));
  }

  private countAll(): Map<string, number> {
    const { reader, pods } = this.parts;
    const paths = pods().flatMap((pod) => reader.children(pod).map((child) => `${pod}/${child}`));
    return new Map(paths.map((path) => [path, reader.details(path).oomEvents]));
  }
}
