// One look at memory and process ids: small kernel files, read at once. What goes away meanwhile is absent, and no reason to stop.
import type { Clock } from "../../shared/clock/clock.js";
import type { CgroupReader } from "../../shared/stats/cgroup-figures.js";
import { parsePressure } from "../../shared/stats/cgroup/pressure.js";
import type { ReadText } from "../../shared/stats/kernel-file.js";
import { meminfo, readProcessLimit } from "../../shared/stats/machine.js";
import type { PodCgroups } from "../../shared/stats/pod-cgroups.js";
import type { MemoryRoom, Sample } from "./observe.js";

const ROOT = "/";

export interface MachineLook extends Pick<Sample, "at" | "memory" | "allocatable" | "processes"> {
  /** Time that tasks have waited for memory since boot, µs; undefined: the kernel does not count it (PSI). */
  stalledMicros: number | undefined;
}

export interface MachineParts {
  reader: Pick<CgroupReader, "memory">;
  cgroups: Pick<PodCgroups, "all">;
  read: ReadText;
  clock: Pick<Clock, "monotonic">;
}

export class Machine {
  private capacity = 0;
  private podsPath: string | undefined;

  constructor(private readonly parts: MachineParts) {}

  look(): MachineLook {
    const { read, clock } = this.parts;
    const psi = read("/proc/pressure/memory");
    return {
      at: clock.monotonic(),
      memory: this.node(),
      allocatable: this.pods(),
      processes: readProcessLimit(read),
      stalledMicros: psi === undefined ? undefined : parsePressure(psi).some.total,
    };
  }

  /** The machine's memory without what the working set of everything takes. */
  private node(): MemoryRoom | undefined {
    // What the machine has does not change while it runs.
    if (this.capacity === 0) this.capacity = meminfo(this.parts.read, "MemTotal");
    const figures = this.parts.reader.memory(ROOT);
    if (figures === undefined || this.capacity === 0) return undefined;
    return { capacity: this.capacity, workingSet: figures.workingSet };
  }

  private pods(): MemoryRoom | undefined {
    this.podsPath ??= this.parts.cgroups.all();
    if (this.podsPath === undefined) return undefined;
    const figures = this.parts.reader.memory(this.podsPath);
    // Gone, or not there yet: looked for again at the next look.
    if (figures === undefined) this.podsPath = undefined;
    if (figures?.limit === undefined) return undefined;
    return { capacity: figures.limit, workingSet: figures.workingSet };
  }
}
