// With kernelMemcgNotification on cgroup v1 the kernel notifies when memory use reaches a threshold. Then the next
// sample is taken at once. The kernel's threshold depends on reclaimable memory, so it is set again every ten seconds.
// Only an optimisation: sampling continues without it.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { CgroupReader } from "../../shared/node/stats/cgroup-figures.js";
import type { PodCgroups } from "../../shared/node/stats/pod-cgroups.js";
import type { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Observations } from "./observe.js";
import { isMemory } from "./signals.js";
import { unitsOf } from "./thresholds.js";

const RENEW_MS = 10_000;
/** Memory use that varies around the threshold notifies thousands of times a second. */
const WAKE_MS = 100;

export interface MemcgNotifierDeps {
  reader: Pick<CgroupReader, "memory" | "directory">;
  cgroups: Pick<PodCgroups, "all">;
  /** As shared/io/os/memcg-usage.ts. */
  watch: (directory: string, bytes: number, onCrossed: () => void) => Disposable;
  wake: () => void;
  clock: Pick<Clock, "monotonic">;
  errorLog: LastingErrors;
}

export class MemcgNotifier implements Disposable {
  private watches: Disposable[] = [];
  private renewAt = -Infinity;
  private wokeAt = -Infinity;

  constructor(private readonly deps: MemcgNotifierDeps) {}

  /** Called after each sample. */
  looked(observations: Observations, thresholds: readonly EvictionThreshold[]): void {
    const now = this.deps.clock.monotonic();
    if (now < this.renewAt) return;
    this.renewAt = now + RENEW_MS;
    const old = this.watches;
    this.watches = thresholds.flatMap((threshold) => this.watch(threshold, observations));
    for (const watch of old) watch[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    for (const watch of this.watches) watch[Symbol.dispose]();
    this.watches = [];
  }

  private crossed(): void {
    const now = this.deps.clock.monotonic();
    if (now - this.wokeAt < WAKE_MS) return;
    this.wokeAt = now;
    this.deps.wake();
  }

  private watch({ signal, value }: EvictionThreshold, observations: Observations): Disposable[] {
    const { reader, cgroups, watch, errorLog } = this.deps;
    const room = observations.get(signal);
    const path = signal === "allocatableMemory.available" ? cgroups.all() : "/";
    const figures = !isMemory(signal) || path === undefined ? undefined : reader.memory(path);
    if (room === undefined || path === undefined || figures === undefined) return [];
    // The kernel's count includes reclaimable memory.
    const droppable = figures.usage - figures.workingSet;
    const mark = room.capacity - unitsOf(value, room.capacity) + droppable;
    const key = `memcg ${path}`;
    try {
      const watched = watch(reader.directory(path), mark, () => this.crossed());
      errorLog.resolved(key, `memory notifications of cgroup ${path} work again`);
      return [watched];
    } catch (error) {
      errorLog.report(key, `no memory notifications of cgroup ${path}; polling it`, error);
      return [];
    }
  }
}
