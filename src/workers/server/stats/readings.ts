// One reading of all cgroups of the node, shared by all requests within its lifetime. Two scrapes in a second read
// once. CPU rates exist while requests arrive: a sample is taken every ten seconds then.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type {
  CgroupPressure,
  CgroupReader,
  CpuFigures,
  MemoryFigures,
} from "../../../shared/node/stats/cgroup-figures.js";
import type { ContainerPlace, PodPlace } from "../../../shared/node/stats/pod-cgroups.js";
import { Breath } from "./breath.js";
import { CpuRates } from "./cpu-rates.js";
import type { SystemCgroup } from "./node/system-cgroups.js";
import type { Places } from "./places.js";
import { Shared } from "./shared-answer.js";

/** Figures of one cgroup at one moment. */
export interface Reading {
  path: string;
  /** Milliseconds since the epoch. */
  at: number;
  cpu?: (CpuFigures & { rate?: number | undefined }) | undefined;
  memory?: MemoryFigures | undefined;
  /** As the runtime reported, which leaves parts out; absent: the cgroup has it. */
  pressure?: Partial<CgroupPressure>;
}

export interface ContainerReading {
  place: ContainerPlace;
  reading: Reading;
}

export interface PodReading {
  place: PodPlace;
  reading: Reading;
  containers: readonly ContainerReading[];
  /** The figures of the runtime; absent: they are read from the cgroups. */
  fromRuntime?: { network?: RuntimeNetwork | undefined; processes?: number | undefined };
}

/** Pods that the pages list, as upstream: those of which a container runs, and those that the runtime reports. */
export function shownPods({ pods }: NodeReadings): PodReading[] {
  return pods.filter(({ containers, fromRuntime }) => containers.length > 0 || fromRuntime !== undefined);
}

export interface RuntimeNetwork {
  /** Milliseconds since the epoch. */
  at: number;
  main?: RuntimeInterface | undefined;
  interfaces: RuntimeInterface[];
}

export interface RuntimeInterface {
  name: string;
  rxBytes?: number | undefined;
  rxErrors?: number | undefined;
  txBytes?: number | undefined;
  txErrors?: number | undefined;
}

export interface NodeReadings {
  root: Reading;
  system: readonly { cgroup: SystemCgroup; reading: Reading }[];
  pods: readonly PodReading[];
}

/** A reading younger than this is used for the next request, too. */
export const LOOK_LIFE_MS = 2000;
const SAMPLE_PERIOD_MS = 10_000;
/** Samples end so long after the last request. */
const INTEREST_MS = 2 * 60_000;

export interface ReadingsDeps {
  pods: () => Iterable<Pod>;
  places: Pick<Places, "find" | "forget" | "prune">;
  /** The cgroup of all pods. */
  all: () => string | undefined;
  system: (pods: string | undefined) => readonly SystemCgroup[];
  reader: Pick<CgroupReader, "cpu" | "memory">;
  clock: Clock;
  /** After each sample: readings that are no longer needed may be dropped. `idle`: there was no request for long. */
  looked: (idle: boolean) => void;
}

export class Readings {
  private readonly rates = new CpuRates();
  private readonly breath: Breath;
  private readonly look: Shared<NodeReadings>;
  private timer: Timer | undefined;
  private askedAt = 0;

  constructor(private readonly deps: ReadingsDeps) {
    this.breath = new Breath(deps.clock);
    this.look = new Shared(LOOK_LIFE_MS, deps.clock, () => this.read());
  }

  /** Rejects when cgroups cannot be read at all. */
  now(): Promise<NodeReadings> {
    const { clock } = this.deps;
    this.askedAt = clock.monotonic();
    this.timer ??= clock.every(SAMPLE_PERIOD_MS, () => this.sample()).unref();
    return this.look.get();
  }

  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private sample(): void {
    const idle = this.deps.clock.monotonic() - this.askedAt > INTEREST_MS;
    if (idle) this.close();
    else void this.look.get().catch(() => undefined);
    this.deps.places.prune();
    this.deps.looked(idle);
  }

  private async read(): Promise<NodeReadings> {
    const { pods, places, all, system, clock } = this.deps;
    const began = clock.monotonic();
    const root = this.one("/");
    // v1 may have a process in different places: one that uses no CPU where it uses memory is not shown (as upstream).
    const ofSystem = system(all())
      .map((cgroup) => ({ cgroup, reading: this.one(cgroup.path) }))
      .filter(({ reading }) => reading.cpu !== undefined && reading.memory !== undefined);
    const ofPods: PodReading[] = [];
    for (const pod of pods()) {
      const place = places.find(pod);
      if (place === undefined) continue;
      const reading = this.one(place.path);
      const containers = place.containers.map((container) => ({ place: container, reading: this.one(container.path) }));
      // A cgroup that was removed during the reading is not shown, and is looked up again.
      const there = containers.filter((container) => isThere(container.reading));
      if (!isThere(reading) || there.length < containers.length) places.forget(pod.metadata.uid);
      if (isThere(reading)) ofPods.push({ place, reading, containers: there });
      await this.breath.take();
    }
    this.rates.forgetBefore(began);
    return { root, system: ofSystem, pods: ofPods };
  }

  /** A reading of a cgroup in addition to the sample's. */
  one(path: string): Reading {
    const { reader, clock } = this.deps;
    const at = clock.monotonic();
    const cpu = reader.cpu(path);
    const memory = reader.memory(path);
    const rate = cpu === undefined ? undefined : this.rates.rate(path, at, cpu.usage);
    return {
      path,
      at: clock.now(),
      cpu: cpu === undefined ? undefined : { ...cpu, rate },
      memory,
    };
  }
}

function isThere({ cpu, memory }: Reading): boolean {
  return cpu !== undefined || memory !== undefined;
}
