// The eviction thread's rounds: look, judge, tell, and order one pod away at a time while something is short.
// Invariant: a look never waits for what may hang (a disk, the runtime, main) for longer than its own time; one order at a
// time; no pod goes by figures that are not fresh.
import type { EvictionThreshold } from "../../shared/api/eviction-threshold.js";
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { EvictionDelta, EvictionInit, EvictionPod } from "../../shared/contracts/eviction.js";
import type { Pressure } from "../../shared/contracts/node-status.js";
import { EVICTION_LOOK } from "../../shared/contracts/thread-ops.js";
import type { Logger } from "../../shared/log/logger.js";
import type { DiskRelief } from "./disk-relief.js";
import type { Disks } from "./disks.js";
import { judge, NO_MEMORY, type Judgement, type Memory } from "./judge.js";
import type { LimitRounds } from "./limit-rounds.js";
import type { Machine, MachineLook } from "./machine.js";
import { observe, type Observations } from "./observe.js";
import type { Outbox } from "./outbox.js";
import { disksNearlyShort, nextLookMs } from "./pace.js";
import type { PodStore } from "./pod-store.js";
import type { PodFigures } from "./pod-figures.js";
import type { PodRelief } from "./pod-relief.js";
import { isDisk, SIGNAL_FACTS } from "./signals.js";
import { effectiveThresholds, keyOf } from "./thresholds.js";
import type { RepeatedErrorLog } from "./repeated-error-log.js";

/** A look waits so long for disks; slower ones are seen by the next. */
const DISK_WAIT_MS = 200;
/**
 * The delay after no pod was left to evict for a disk, and between two walks of all pods while a disk is nearly short.
 */
const DISK_REST_MS = 10_000;
/** Looks in a row without a figure before that is said: at the start the runtime may not be there. */
const MISSES = 10;

export type EvictionSettings = Pick<
  EvictionInit,
  | "thresholds"
  | "enforcePods"
  | "evictionPressureTransitionPeriodMs"
  | "localStorageCapacityIsolation"
  | "samplePeriodMs"
>;

export interface EvictionParts {
  machine: Pick<Machine, "look">;
  disks: Disks;
  figures: PodFigures;
  podStore: PodStore;
  outbox: Outbox;
  podRelief: PodRelief;
  diskRelief: DiskRelief;
  limits: LimitRounds;
  /** Never throws. */
  oom: { look(): void };
  /** Called after each sample. */
  looked?(sample: Observations, thresholds: readonly EvictionThreshold[]): void;
  board: { setOp(code: number): void; worked(): void };
  clock: Pick<Clock, "monotonic" | "after">;
  log: Pick<Logger, "error">;
  errorLog: RepeatedErrorLog;
}

export class Eviction {
  private memory: Memory = NO_MEMORY;
  private last: MachineLook | undefined;
  private disksAt = -Infinity;
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
    private readonly parts: EvictionParts,
  ) {}

  /** The pods are known: looks begin. `pressures` hold for the transition period from now on. */
  setPods(pods: readonly EvictionPod[], orders: readonly string[], pressures: readonly Pressure[]): void {
    const now = this.parts.clock.monotonic();
    this.parts.podStore.set(pods, orders, now);
    this.memory = { ...this.memory, pressedAt: new Map(pressures.map((pressure) => [pressure, now])) };
    this.wake();
  }

  applyPods(delta: EvictionDelta): void {
    this.parts.podStore.apply(delta, this.parts.clock.monotonic());
    for (const uid of delta.ended) this.parts.figures.forget(uid);
  }

  /** Looks now. */
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

  /** The disks as they were last seen, and all else. */
  observe(): Observations {
    const { machine, disks } = this.parts;
    const look = this.last ?? machine.look();
    return observe({ ...look, ...disks.figures });
  }

  /** Was a round requested while one was running? */
  private get wanted(): boolean {
    return this.again;
  }

  private async round(): Promise<void> {
    const { board, clock, errorLog } = this.parts;
    let nextMs = this.settings.samplePeriodMs;
    do {
      this.again = false;
      const began = clock.monotonic();
      this.parts.oom.look();
      board.setOp(EVICTION_LOOK);
      try {
        nextMs = await this.look();
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
  private async look(): Promise<number> {
    const { machine, disks, clock, outbox } = this.parts;
    const { samplePeriodMs: periodMs, enforcePods, evictionPressureTransitionPeriodMs } = this.settings;
    if (clock.monotonic() - this.disksAt >= periodMs / 2) {
      this.disksAt = clock.monotonic();
      await disks.refresh(Math.min(DISK_WAIT_MS, periodMs));
    }
    const before = this.last;
    const look = machine.look();
    this.last = look;
    const { layout } = disks;
    const thresholds = effectiveThresholds(this.settings.thresholds, { enforcePods, layout });
    const observations = observe({ ...look, ...disks.figures });
    const remembered = this.memory.observations;
    const judgement = judge(thresholds, observations, this.memory, look.at, evictionPressureTransitionPeriodMs);
    this.memory = judgement.memory;
    outbox.publishPressures(judgement.pressures);
    this.reportUnread(thresholds, observations);
    this.reportEnough(thresholds);
    this.startLimits();
    await this.act(judgement, thresholds, observations);
    this.parts.looked?.(observations, thresholds);
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
    const now = this.parts.clock.monotonic();
    const free = !this.errands.has("disk") && now >= this.diskRestUntil;
    const first = due.find(({ signal }) => !isDisk(signal) || free);
    if (first !== undefined && !this.parts.podStore.orders.block(now)) {
      this.parts.outbox.publishShort(SIGNAL_FACTS[first.signal].resource);
      if (isDisk(first.signal)) this.startRelief(first, due, thresholds);
      else if ((await this.parts.podRelief.relieve(first, due, observations)) === "no-candidate")
        this.logNoCandidate(first);
    } else if (free && disksNearlyShort(thresholds, observations)) this.startWarmUp();
  }

  private startRelief(
    threshold: EvictionThreshold,
    due: readonly EvictionThreshold[],
    thresholds: readonly EvictionThreshold[],
  ): void {
    this.start("disk", async () => {
      const outcome = await this.parts.diskRelief.relieve(threshold, due, thresholds);
      if (outcome === "done") return;
      this.logNoCandidate(threshold);
      this.diskRestUntil = this.parts.clock.monotonic() + DISK_REST_MS;
    });
  }

  /** So that every pod's figures are there when one has to go. */
  private startWarmUp(): void {
    const { podStore, figures, clock } = this.parts;
    const uids = podStore.candidates().map(({ uid }) => uid);
    if (uids.length === 0) return;
    if (clock.monotonic() < this.warmAgainAt) return;
    this.warmAgainAt = clock.monotonic() + DISK_REST_MS;
    this.start("limits", () => figures.measure(uids, DISK_REST_MS, 0, true));
  }

  private startLimits(): void {
    const { limits } = this.parts;
    if (this.settings.localStorageCapacityIsolation && limits.due) this.start("limits", () => limits.round());
  }

  private start(kind: "disk" | "limits", errand: () => Promise<void>): void {
    if (this.stopped || this.errands.has(kind)) return;
    const done = errand()
      .catch((error: unknown) => {
        this.parts.log.error({ err: error }, `the eviction thread's request ${kind} failed; trying again`);
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
        this.parts.errorLog.report(
          signal,
          `cannot read ${signal}; its thresholds are not checked until it is readable`,
        );
      } else if (missed === 0) this.parts.errorLog.resolved(signal, `${signal} is readable; checking its thresholds`);
    }
  }

  /** The state "no pod left to evict for this resource" ends when the resource is no longer short. */
  private reportEnough(thresholds: readonly EvictionThreshold[]): void {
    const short = thresholds.filter((each) => this.memory.driving.has(keyOf(each)));
    for (const { signal } of thresholds) {
      const { resource } = SIGNAL_FACTS[signal];
      if (short.some((each) => SIGNAL_FACTS[each.signal].resource === resource)) continue;
      this.parts.errorLog.resolved(`no candidate ${resource}`, `the node is no longer short of ${resource}`);
    }
  }

  private logNoCandidate({ signal }: EvictionThreshold): void {
    const { resource } = SIGNAL_FACTS[signal];
    this.parts.errorLog.report(
      `no candidate ${resource}`,
      `the node is short of ${resource} (${signal}), but no pod can be evicted for it`,
    );
  }
}

/** Of the time between two looks. */
function stalledPart(before: MachineLook | undefined, now: MachineLook): number {
  if (before?.stalledMicros === undefined || now.stalledMicros === undefined || now.at <= before.at) return 0;
  return (now.stalledMicros - before.stalledMicros) / ((now.at - before.at) * 1000);
}
