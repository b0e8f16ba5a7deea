// One look at all cgroups of the node, shared by everybody who asks within its life: who scrapes twice a second must not make
// the thread read twice. CPU rates live as long as somebody asks: a sample is taken every ten seconds then.
import type { Pod } from "../../../shared/api/pod.js";
import type { Clock, Timer } from "../../../shared/clock/clock.js";
import { Breath } from "./breath.js";
import type { CgroupReader, CpuFigures, MemoryFigures } from "../../../shared/stats/cgroup-figures.js";
import { CpuRates } from "./cpu-rates.js";
import { Shared } from "./shared-answer.js";
import type { ContainerPlace, PodCgroups, PodPlace } from "../../../shared/stats/pod-cgroups.js";
import type { SystemCgroup } from "./node/system-cgroups.js";

/** Of one cgroup, at one moment. */
export interface Reading {
  path: string;
  /** Milliseconds since the epoch. */
  at: number;
  cpu?: CpuFigures & { rate?: number };
  memory?: MemoryFigures;
}

export interface ContainerReading {
  place: ContainerPlace;
  reading: Reading;
}

export interface PodReading {
  place: PodPlace;
  reading: Reading;
  containers: readonly ContainerReading[];
}

export interface NodeReadings {
  root: Reading;
  system: readonly { cgroup: SystemCgroup; reading: Reading }[];
  pods: readonly PodReading[];
}

/** A look younger than this answers the next request, too. */
export const LOOK_LIFE_MS = 2000;
const SAMPLE_PERIOD_MS = 10_000;
/** Samples end so long after the last request. */
const INTEREST_MS = 2 * 60_000;

export interface ReadingsParts {
  pods: () => Iterable<Pod>;
  places: Pick<PodCgroups, "find" | "all">;
  system: (pods: string | undefined) => readonly SystemCgroup[];
  reader: Pick<CgroupReader, "cpu" | "memory">;
  clock: Clock;
}

export class Readings {
  private readonly rates = new CpuRates();
  private readonly breath: Breath;
  private readonly look: Shared<NodeReadings>;
  private timer: Timer | undefined;
  private askedAt = 0;

  constructor(private readonly parts: ReadingsParts) {
    this.breath = new Breath(parts.clock);
    this.look = new Shared(LOOK_LIFE_MS, parts.clock, () => this.read());
  }

  /** Rejects when cgroups cannot be read at all. */
  now(): Promise<NodeReadings> {
    const { clock } = this.parts;
    this.askedAt = clock.monotonic();
    this.timer ??= clock.every(SAMPLE_PERIOD_MS, () => this.sample()).unref();
    return this.look.get();
  }

  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private sample(): void {
    if (this.parts.clock.monotonic() - this.askedAt > INTEREST_MS) this.close();
    else void this.look.get().catch(() => undefined);
  }

  private async read(): Promise<NodeReadings> {
    const { pods, places, system, clock } = this.parts;
    const began = clock.monotonic();
    const root = this.one("/");
    // v1 may have a process in different places: one that uses no CPU where it uses memory is not shown (as upstream).
    const ofSystem = system(places.all())
      .map((cgroup) => ({ cgroup, reading: this.one(cgroup.path) }))
      .filter(({ reading }) => reading.cpu !== undefined && reading.memory !== undefined);
    const ofPods: PodReading[] = [];
    for (const pod of pods()) {
      const place = places.find(pod);
      if (place === undefined) continue;
      const containers = place.containers.map((container) => ({ place: container, reading: this.one(container.path) }));
      ofPods.push({ place, reading: this.one(place.path), containers });
      await this.breath.take();
    }
    this.rates.forgetBefore(began);
    return { root, system: ofSystem, pods: ofPods };
  }

  /** A reading of a cgroup beside the look's. */
  one(path: string): Reading {
    const { reader, clock } = this.parts;
    const at = clock.monotonic();
    const cpu = reader.cpu(path);
    const memory = reader.memory(path);
    const rate = cpu === undefined ? undefined : this.rates.rate(path, at, cpu.usage);
    return {
      path,
      at: clock.now(),
      ...(cpu === undefined ? {} : { cpu: { ...cpu, ...(rate === undefined ? {} : { rate }) } }),
      ...(memory === undefined ? {} : { memory }),
    };
  }
}
