// One sample of memory and process ids: small kernel files, read at once. Files that are removed meanwhile are absent
// from it, which is no failure.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { CgroupReader } from "../../shared/node/stats/cgroup-figures.js";
import { parsePressure } from "../../shared/node/stats/cgroup/pressure.js";
import type { ReadText } from "../../shared/node/stats/kernel-file.js";
import { meminfo, readProcessLimit } from "../../shared/node/stats/machine.js";
import type { PodCgroups } from "../../shared/node/stats/pod-cgroups.js";
import type { MemoryRoom, Sample } from "./observe.js";

const ROOT = "/";

export interface MachineLook extends Pick<Sample, "at" | "memory" | "allocatable" | "processes"> {
  /** Time that tasks have waited for memory since boot, µs; undefined: the kernel does not count it (PSI). */
  stalledMicros: number | undefined;
}

export interface MachineDeps {
  reader: Pick<CgroupReader, "memory">;
  cgroups: Pick<PodCgroups, "all">;
  read: ReadText;
  clock: Pick<Clock, "monotonic">;
}

export class Machine {
  private capacity = 0;
  private podsPath: string | undefined;

  constructor(private readonly deps: MachineDeps) {}

  sample(): MachineLook {
    const { read, clock } = this.deps;
    const psi = read("/proc/pressure/memory");
    return {
      at: clock.monotonic(),
      memory: this.node(),
      allocatable: this.pods(),
      processes: readProcessLimit(read),
      stalledMicros: psi === undefined ? undefined : parsePressure(psi).some.total,
    };
  }

  /** The machine's memory minus the working set of the root cgroup. */
  private node(): MemoryRoom | undefined {
    // The machine's memory size does not change while it runs.
    if (this.capacity === 0) this.capacity = meminfo(this.deps.read, "MemTotal");
    const figures = this.deps.reader.memory(ROOT);
    if (figures === undefined || this.capacity === 0) return undefined;
    return { capacity: this.capacity, workingSet: figures.workingSet };
  }

  private pods(): MemoryRoom | undefined {
    this.podsPath ??= this.deps.cgroups.all();
    if (this.podsPath === undefined) return undefined;
    const figures = this.deps.reader.memory(this.podsPath);
    // The file is missing: the next sample searches for it again.
    if (figures === undefined) this.podsPath = undefined;
    if (figures?.limit === undefined) return undefined;
    return { capacity: figures.limit, workingSet: figures.workingSet };
  }
}
