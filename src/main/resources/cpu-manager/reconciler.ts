// Sets the cpusets of running containers to the assigned CPUs. It does so at once when the shared pool has changed.
// Every cpuManagerReconcilePeriod it does so for those whose update failed.
// Invariant: one call to the runtime at a time; a container that has its CPUs costs none; after a restart of the
// kubelet every container is updated once, because its last update is not known.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { CriNotFoundError, CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import { ContainerState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** From the grant, with which a container is created, to its start. */
const CREATION_MS = 60_000;

export interface ReconcilerDeps {
  cri: Pick<CriClient, "updateContainerResources">;
  observed: () => Iterable<ObservedPod>;
  clock: Clock;
  log: Logger;
  periodMs: number;
  /** The Linux list of CPUs that the container is to run on. */
  cpusOf: (podUid: PodUid, container: string) => string;
  /** Before each round that the timer begins. */
  onTick: () => void;
}

interface Running {
  id: ContainerId;
  podUid: PodUid;
  name: string;
}

interface Fresh extends Running {
  /** Monotonic, milliseconds. */
  since: number;
}

export class CpuReconciler {
  /** The CPUs of the last update. */
  private readonly applied = new Map<ContainerId, string>();
  /** Started, but not yet observed to run. */
  private readonly fresh = new Map<ContainerId, Fresh>();
  /** Containers whose update failed, so that each is logged once. */
  private readonly failing = new Set<ContainerId>();
  private readonly lifetime = new Lifetime();
  private timer: Timer | undefined;
  private poolChangedAt = -Infinity;
  private asked = false;
  private round: Promise<void> | undefined;

  constructor(private readonly deps: ReconcilerDeps) {}

  start(): void {
    this.timer = this.deps.clock.every(this.deps.periodMs, () => {
      this.deps.onTick();
      this.ask();
    });
  }

  poolChanged(): void {
    this.poolChangedAt = this.deps.clock.monotonic();
    this.ask();
  }

  /** Updates the container only if its CPUs have changed since it was created. */
  started(podUid: PodUid, name: string, id: ContainerId): void {
    const { clock, cpusOf } = this.deps;
    const since = clock.monotonic();
    this.fresh.set(id, { id, podUid, name, since });
    if (since - this.poolChangedAt > CREATION_MS) this.applied.set(id, cpusOf(podUid, name));
    else this.ask();
  }

  /** Resolves when the round that runs, if any, has ended. */
  async settled(): Promise<void> {
    await this.round;
  }

  async stop(): Promise<void> {
    this.timer?.cancel();
    this.lifetime.end();
    await this.round;
  }

  private ask(): void {
    if (this.lifetime.hasEnded) return;
    this.asked = true;
    this.round ??= this.rounds().finally(() => {
      this.round = undefined;
    });
  }

  /** Never rejects. */
  private async rounds(): Promise<void> {
    // Let the change of the pool finish first: the admission of a pod changes it container by container.
    await Promise.resolve();
    while (this.asked && !this.lifetime.hasEnded) {
      this.asked = false;
      await this.applyAll();
    }
  }

  private async applyAll(): Promise<void> {
    const running = new Map(this.running().map((container) => [container.id, container]));
    for (const id of this.applied.keys()) if (!running.has(id)) this.applied.delete(id);
    for (const id of this.failing) if (!running.has(id)) this.failing.delete(id);
    for (const container of running.values()) {
      if (this.lifetime.hasEnded || !(await this.apply(container))) return;
    }
  }

  /** False: the runtime is away, others need not be tried. */
  private async apply({ id, podUid, name }: Running): Promise<boolean> {
    const { cri, cpusOf } = this.deps;
    const cpus = cpusOf(podUid, name);
    if (this.applied.get(id) === cpus || cpus === "") return true;
    try {
      const linux = { cpusetCpus: cpus };
      await cri.updateContainerResources({ containerId: id, linux }, { signal: this.lifetime.signal });
      this.applied.set(id, cpus);
      this.failing.delete(id);
    } catch (error) {
      if (this.lifetime.hasEnded || error instanceof CriUnavailableError) return false;
      // Ended meanwhile.
      if (error instanceof CriNotFoundError) this.applied.set(id, cpus);
      else this.warn(id, podUid, name, cpus, error);
    }
    return true;
  }

  private warn(id: ContainerId, podUid: PodUid, name: string, cpus: string, error: unknown): void {
    if (this.failing.has(id)) return;
    this.failing.add(id);
    this.deps.log.warn(
      { pod: podUid, container: name, containerId: id, err: error },
      `cannot move container ${name} of pod ${podUid} to CPUs ${cpus}: ${errorText(error)}; trying again`,
    );
  }

  private running(): Running[] {
    const { observed, clock } = this.deps;
    const seen: Running[] = [];
    for (const { uid, containers } of observed()) {
      for (const { id, state, metadata } of containers) {
        this.fresh.delete(id);
        if (state !== ContainerState.CONTAINER_RUNNING || metadata === undefined) continue;
        seen.push({ id, podUid: uid, name: metadata.name });
      }
    }
    const oldest = clock.monotonic() - CREATION_MS;
    for (const { id, since } of this.fresh.values()) if (since < oldest) this.fresh.delete(id);
    return [...seen, ...this.fresh.values()];
  }
}
