// Back-off between restarts of a crashing container. The first restart is immediate; then the delay doubles from 10 s
// to 5 min. A healthy run resets it. Time comes in with every call, so the rule runs under virtual time. Entries are in
// memory only. After its own restart, the kubelet starts a crashing container once more without delay, as upstream
// does.

import { goDuration } from "../../shared/base/clock/go-duration.js";
import { type SteadyTime, type WallTime, earliest, later, steadyTime } from "../../shared/base/clock/moments.js";
import { CRASH_RESET_MS } from "../../shared/kubernetes/api/crash-reset.js";
import type { Container, Pod } from "../../shared/kubernetes/api/pod.js";
import { podDescription } from "../../shared/kubernetes/api/pod.js";
import { goJson } from "./go-json.js";

/** Milliseconds. Defaults are the constants of 1.36. */
export interface BackoffOptions {
  baseMs: number;
  maxMs: number;
  /** An entry no longer counts if the container finished this long after the entry's last step. */
  resetMs: number;
}

const crashBackoffDefaults: BackoffOptions = { baseMs: 10_000, maxMs: 300_000, resetMs: CRASH_RESET_MS };

interface Entry {
  delayMs: number;
  lastStep: SteadyTime;
  /** The container's finish time: as reported by the runtime, and by the clock of the back-off. */
  finish?: { reported: WallTime; at: SteadyTime };
}

export interface InBackoff {
  /** The earliest time of the next start. */
  until: SteadyTime;
  /** The full delay of this step, not the rest of it. */
  delayMs: number;
}

export class CrashBackoff {
  private readonly entries = new Map<string, Entry>();
  private readonly options: BackoffOptions;

  /** `steadyOf` converts a time of the runtime to the clock of `now`, with the present offset of both clocks. */
  constructor(
    options: Partial<BackoffOptions> = {},
    private readonly steadyOf: (finishedAt: WallTime) => SteadyTime = (finishedAt) => steadyTime(finishedAt),
  ) {
    const { baseMs, maxMs, resetMs } = { ...crashBackoffDefaults, ...options };
    this.options = { baseMs: Math.min(baseMs, maxMs), maxMs, resetMs };
  }

  /**
   * Must a container that finished at `finishedAt` still wait? Undefined: it may start now; call `next` when it is
   * started.
   */
  inBackoff(key: string, finishedAt: WallTime, now: SteadyTime): InBackoff | undefined {
    const entry = this.entries.get(key);
    return entry === undefined ? undefined : this.waitSince(entry, this.finished(entry, finishedAt, now), now);
  }

  /** As `inBackoff`, but counted from the entry's last step: the form image pulls use. */
  inBackoffSinceStep(key: string, now: SteadyTime): InBackoff | undefined {
    const entry = this.entries.get(key);
    return entry === undefined ? undefined : this.waitSince(entry, entry.lastStep, now);
  }

  /**
   * Advances the entry: the container starts after it had finished at `finishedAt`. Returns the delay of the next
   * restart.
   */
  next(key: string, finishedAt: WallTime, now: SteadyTime): number {
    const entry = this.entries.get(key);
    return this.advance(key, entry, entry === undefined ? now : this.finished(entry, finishedAt, now), now);
  }

  /** As `next`, counted from now: the form image pulls use. */
  step(key: string, now: SteadyTime): number {
    return this.advance(key, this.entries.get(key), now, now);
  }

  /** Drops one entry (image pulled, container removed). */
  forget(key: string): void {
    this.entries.delete(key);
  }

  /** Drops entries that can no longer delay anything; call now and then. */
  collect(now: SteadyTime): void {
    const { resetMs, maxMs } = this.options;
    for (const [key, entry] of this.entries) {
      // A container may have finished just before the reset, with its delay still running.
      if (now - entry.lastStep > resetMs + maxMs) this.entries.delete(key);
    }
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  get size(): number {
    return this.entries.size;
  }

  private advance(key: string, entry: Entry | undefined, since: SteadyTime, now: SteadyTime): number {
    const { baseMs, maxMs } = this.options;
    const fresh = entry === undefined || this.expired(entry, since);
    const delayMs = fresh ? baseMs : Math.min(entry.delayMs * 2, maxMs);
    this.entries.set(key, { delayMs, lastStep: now });
    return delayMs;
  }

  private waitSince(entry: Entry, since: SteadyTime, now: SteadyTime): InBackoff | undefined {
    const until = later(since, entry.delayMs);
    return this.expired(entry, since) || until <= now ? undefined : { until, delayMs: entry.delayMs };
  }

  /** Kept from the first call on. Otherwise a clock that is set back would delay the container by the same time. */
  private finished(entry: Entry, reported: WallTime, now: SteadyTime): SteadyTime {
    if (entry.finish?.reported !== reported) entry.finish = { reported, at: earliest(this.steadyOf(reported), now) };
    return entry.finish.at;
  }

  private expired(entry: Entry, finishedAt: number): boolean {
    return finishedAt - entry.lastStep > this.options.resetMs;
  }
}

/** Key of a container's restarts: another image or other resources start afresh, another pod of the same name too. */
export function crashBackoffKey(pod: Pick<Pod, "metadata">, container: Container): string {
  const { name, namespace, uid } = pod.metadata;
  return goJson([name, namespace, uid, container.name, container.image ?? "", container.resources ?? {}]);
}

/** Message of the waiting reason CrashLoopBackOff. */
export function crashLoopMessage(pod: Pick<Pod, "metadata">, container: { name: string }, delayMs: number): string {
  return `back-off ${goDuration(delayMs)} restarting failed container=${container.name} pod=${podDescription(pod)}`;
}
