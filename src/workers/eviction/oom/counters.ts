// Detects OOM kills without the kernel's log. The count in /proc/vmstat shows a kill, and the counts in the
// containers' cgroups show its container. Neither names the process, nor tells whether the machine was out of memory.

import type { CgroupReader } from "../../../shared/node/stats/cgroup-figures.js";
import { keyed, type ReadText } from "../../../shared/node/stats/kernel-file.js";

export interface OomCountersDeps {
  read: ReadText;
  reader: Pick<CgroupReader, "children" | "details">;
  /** Cgroups of the pods that run. */
  pods: () => readonly string[];
}

export class OomCounters {
  /** Number of OOM kills of the whole machine; undefined: not read yet. */
  private kills: number | undefined;
  private counts = new Map<string, number>();

  constructor(private readonly deps: OomCountersDeps) {}

  /** Cgroups of containers in which processes were killed since the last look. */
  sample(): string[] {
    const kills = keyed(this.deps.read("/proc/vmstat") ?? "", "oom_kill");
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
    const { reader, pods } = this.deps;
    const paths = pods().flatMap((pod) => reader.children(pod).map((child) => `${pod}/${child}`));
    return new Map(paths.map((path) => [path, reader.details(path).oomEvents]));
  }
}
