// The eviction thread's rounds: sample, judge, report, and order one pod away at a time while a resource is short.
// Invariant: a sample never waits longer than its own limit for a call that may hang (a disk, the runtime, main); one
// order at a time; no pod is evicted by figures that are not fresh.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { EvictionDelta, EvictionInit, EvictionPod } from "../../shared/contracts/eviction.js";
import type { Pressure } from "../../shared/contracts/node-status.js";
import { EVICTION_LOOK } from "../../shared/contracts/thread-ops.js";
import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { DiskRelief } from "./disk-relief.js";
import type { Disks } from "./disks.js";
import { judge, NO_MEMORY, type Judgement, type Memory } from "./judge.js";
import type { LimitRounds } from "./limit-rounds.js";
import type { Machine, MachineLook } from "./machine.js";
import { observe, type Observations } from "./observe.js";
import type { Outbox } from "./outbox.js";
import { diskGapMs, disksNearlyShort, nextLookMs } from "./pace.js";
import type { PodFigures } from "./pod-figures.js";
import type { PodRelief } from "./pod-relief.js";
import type { PodStore } from "./pod-store.js";
import { isDisk, SIGNAL_FACTS } from "./signals.js";
import { effectiveThresholds, keyOf } from "./thresholds.js";

/** Time for which a sample waits for disks; slower results count in the next one. */
const DISK_WAIT_MS = 200;
/**
 * The delay after a round without a pod to evict for a disk. Also the time between two walks of all pods while a disk
 * is near its threshold.
 */
const DISK_REST_MS = 10_000;
/** Samples in a row without a figure before a log line: at the start the runtime may be unreachable. */
const MISSES = 10;

export type EvictionSettings = Pick<
  EvictionInit,
  | "thresholds"
  | "enforcePods"
  | "evictionPressureTransitionPeriodMs"
  | "localStorageCapacityIsolation"
  | "samplePeriodMs"
>;

export interface EvictionLoopDeps {
  machine: Pick<Machine, "sample">;
  disks: Disks;
  figures: PodFigures;
  podStore: PodStore;
  outbox: Outbox;
  podRelief: PodRelief;
  diskRelief: DiskRelief;
  limits: LimitRounds;
  /** Never throws. */
  oom: { reportKills(): void };
  /** Called after each sample. */
  onSample?(sample: Observations, thresholds: readonly EvictionThreshold[]): void;
  board: { setOp(code: number): void; worked(): void };
  clock: Pick<Clock, "monotonic" | "after">;
  log: Pick<Logger, "error">;
  errorLog: LastingErrors;
}

export class Eviction {
  private memory: Memory = NO_MEMORY;
  private last: MachineLook | undefined;
  private disksAt = -Infinity;
  private disksGapMs = 0;
  private diskRestUntil = 0;
  private warmAgainAt = 0;
  private readonly misses = new Map<string, number>();
  private timer: Timer | undefined;
  private looking: Promise<void> | undefined;
  private again = false;
  /** Tasks that take longer than one reading: one of each kind at a time. */
  private readonly errands = new Map<"disk" | "limits", Promise<void>>();
  private stopped = false;

  constructor(
    private readonly settings: EvictionSettings,
    private readonly deps: EvictionLoopDeps,
  ) {}

  /** The pods are known: sampling starts. `pressures` hold for the transition period from now on. */
  setPods(pods: readonly EvictionPod[], orders: readonly PodUid[], pressures: readonly Pressure[]): void {
    const now = this.deps.clock.monotonic();
    this.deps.podStore.set(pods, orders, now);
    this.memory = { ...this.memory, pressedAt: new Map(pressures.map((pressure) => [pressure, now])) };
    this.wake();
  }

  applyPods(delta: EvictionDelta): void {
    this.deps.podStore.apply(delta, this.deps.clock.monotonic());
    for (const uid of delta.ended) this.deps.figures.forget(uid);
  }

  /** Takes a sample now. */
  wake(): void {
    if (this.stopped) return;
    this.timer?.cancel();
    if (this.looking !== undefined) {
      this.again = true;
      return;
    }
    this.looking = this.round();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.looking;
    await Promise.all(this.errands.values());
  }

  /** Memory, processes, and the disks as measured last. */
  observe(): Observations {
    const { machine, disks } = this.deps;
    const look = this.last ?? machine.sample();
    return observe({ ...look, ...disks.figures });
  }

  /** True if a round was requested while one was running. */
  private get wanted(): boolean {
    return this.again;
  }

  private async round(): Promise<void> {
    const { board, clock, errorLog } = this.deps;
    let nextMs = this.settings.samplePeriodMs;
    do {
      this.again = false;
      const began = clock.monotonic();
      this.deps.oom.reportKills();
      board.setOp(EVICTION_LOOK);
      try {
        nextMs = await this.inspect();
        board.worked();
        errorLog.resolved("look", "measuring memory and disks succeeded again");
      } catch (error) {
        errorLog.report("look", "cannot measure memory and disks; trying again", error);
      }
      board.setOp(0);
      nextMs = Math.max(0, nextMs - (clock.monotonic() - began));
    } while (this.wanted && !this.stopped);
    this.looking = undefined;
    if (!this.stopped) this.timer = clock.after(nextMs, () => this.wake());
  }

  /** Resolves to the time until the next. */
  private async inspect(): Promise<number> {
    const { machine, disks, clock, outbox } = this.deps;
    const { samplePeriodMs: periodMs, enforcePods, evictionPressureTransitionPeriodMs } = this.settings;
    if (clock.monotonic() - this.disksAt >= this.disksGapMs - periodMs / 2) {
      this.disksAt = clock.monotonic();
      await disks.refresh(Math.min(DISK_WAIT_MS, periodMs));
    }
    const before = this.last;
    const look = machine.sample();
    this.last = look;
    const { layout } = disks;
    const thresholds = effectiveThresholds(this.settings.thresholds, { enforcePods, layout });
    const observations = observe({ ...look, ...disks.figures });
    this.disksGapMs = diskGapMs(thresholds, observations, periodMs);
    const remembered = this.memory.observations;
    const judgement = judge(thresholds, observations, this.memory, look.at, evictionPressureTransitionPeriodMs);
    this.memory = judgement.memory;
    outbox.publishPressures(judgement.pressures);
    this.reportUnread(thresholds, observations);
    this.reportEnough(thresholds);
    this.startLimits();
    await this.act(judgement, thresholds, observations);
    this.deps.onSample?.(observations, thresholds);
    return nextLookMs({
      periodMs,
      thresholds,
      before: remembered,
      now: observations,
      stalledPart: stalledPart(before, look),
    });
  }

  private async act(
    { due }: Judgement,
    thresholds: readonly EvictionThreshold[],
    observations: Observations,
  ): Promise<void> {
    const now = this.deps.clock.monotonic();
    const free = !this.errands.has("disk") && now >= this.diskRestUntil;
    const first = due.find(({ signal }) => !isDisk(signal) || free);
    if (first !== undefined && !this.deps.podStore.orders.block(now)) {
      this.deps.outbox.publishShort(SIGNAL_FACTS[first.signal].resource);
      if (isDisk(first.signal)) this.startRelief(first, due, thresholds, observations);
      else if ((await this.deps.podRelief.relieve(first, due, observations)) === "no-candidate")
        this.logNoCandidate(first);
    } else if (free && disksNearlyShort(thresholds, observations)) this.startWarmUp();
  }

  private startRelief(
    threshold: EvictionThreshold,
    due: readonly EvictionThreshold[],
    thresholds: readonly EvictionThreshold[],
    observations: Observations,
  ): void {
    this.start("disk", async () => {
      const outcome = await this.deps.diskRelief.relieve(threshold, due, thresholds, observations);
      if (outcome === "done") return;
      this.logNoCandidate(threshold);
      this.diskRestUntil = this.deps.clock.monotonic() + DISK_REST_MS;
    });
  }

  /** Keeps the figures of all pods fresh for an eviction. */
  private startWarmUp(): void {
    const { podStore, figures, clock } = this.deps;
    const uids = podStore.candidates().map(({ uid }) => uid);
    if (uids.length === 0) return;
    if (clock.monotonic() < this.warmAgainAt) return;
    this.warmAgainAt = clock.monotonic() + DISK_REST_MS;
    this.start("limits", () => figures.measure(uids, DISK_REST_MS, 0, true));
  }

  private startLimits(): void {
    const { limits } = this.deps;
    if (this.settings.localStorageCapacityIsolation && limits.due) this.start("limits", () => limits.round());
  }

  private start(kind: "disk" | "limits", errand: () => Promise<void>): void {
    if (this.stopped || this.errands.has(kind)) return;
    const done = errand()
      .catch((error: unknown) => {
        this.deps.log.error({ err: error }, `the eviction thread's request ${kind} failed; trying again`);
      })
      .finally(() => {
        this.errands.delete(kind);
      });
    this.errands.set(kind, done);
  }

  private reportUnread(thresholds: readonly EvictionThreshold[], observations: Observations): void {
    for (const { signal } of thresholds) {
      const missed = observations.has(signal) ? 0 : (this.misses.get(signal) ?? 0) + 1;
      this.misses.set(signal, missed);
      if (missed === MISSES) {
        this.deps.errorLog.report(signal, `cannot read ${signal}; its thresholds are not checked until it is readable`);
      } else if (missed === 0) this.deps.errorLog.resolved(signal, `${signal} is readable; checking its thresholds`);
    }
  }

  /** The state "no pod left to evict for this resource" ends when the resource is no longer short. */
  private reportEnough(thresholds: readonly EvictionThreshold[]): void {
    const short = thresholds.filter((each) => this.memory.driving.has(keyOf(each)));
    for (const { signal } of thresholds) {
      const { resource } = SIGNAL_FACTS[signal];
      if (short.some((each) => SIGNAL_FACTS[each.signal].resource === resource)) continue;
      this.deps.errorLog.resolved(`no candidate ${resource}`, `the node is no longer short of ${resource}`);
    }
  }

  private logNoCandidate({ signal }: EvictionThreshold): void {
    const { resource } = SIGNAL_FACTS[signal];
    this.deps.errorLog.report(
      `no candidate ${resource}`,
      `the node is short of ${resource} (${signal}), but no pod can be evicted for it`,
    );
  }
}

/** Fraction of the interval between two samples. */
function stalledPart(before: MachineLook | undefined, now: MachineLook): number {
  if (before?.stalledMicros === undefined || now.stalledMicros === undefined || now.at <= before.at) return 0;
  return (now.stalledMicros - before.stalledMicros) / ((now.at - before.at) * 1000);
}
