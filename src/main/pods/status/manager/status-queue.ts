// The order in which pod statuses are sent. Urgent ones come first, each kind in order of arrival, none before its
// earliest time. A pod keeps its place until its status was sent, so that a failed patch keeps its turn.

import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";
import type { Hold } from "./urgency.js";

export class StatusQueue {
  private readonly urgent = new Set<PodUid>();
  private readonly later = new Set<PodUid>();
  /** Milliseconds of the monotonic clock. */
  private readonly notBefore = new Map<PodUid, number>();
  /** The stage of each status that waits for further changes; those that wait after a failure are not in it. */
  private readonly stages = new Map<PodUid, Hold["stage"]>();

  /** Puts it first. */
  pushUrgent(uid: PodUid): void {
    if (this.later.delete(uid)) this.notBefore.delete(uid);
    this.stages.delete(uid);
    this.urgent.add(uid);
  }

  /**
   * Waits until `notBefore`, so that later changes join the same patch. A pending wait is not extended, except when the
   * pod starts to terminate.
   */
  delayUntil(uid: PodUid, stage: Hold["stage"], notBefore: number): void {
    if (this.urgent.has(uid)) return;
    const before = this.stages.get(uid);
    if (this.later.has(uid) && before === undefined) return;
    const begins = stage === "ends" && before !== "ends";
    const until = begins ? notBefore : Math.min(this.notBefore.get(uid) ?? Infinity, notBefore);
    this.notBefore.set(uid, until);
    this.stages.set(uid, stage);
    this.later.add(uid);
  }

  has(uid: PodUid): boolean {
    return this.urgent.has(uid) || this.later.has(uid);
  }

  /** Number of other pods whose statuses wait for further changes. */
  othersWaiting(uid: PodUid): number {
    return this.stages.size - (this.stages.has(uid) ? 1 : 0);
  }

  /** It failed: nothing of it is sent before this time, even a newer status. */
  delay(uid: PodUid, until: number): void {
    if (!this.has(uid)) return;
    this.notBefore.set(uid, until);
    this.stages.delete(uid);
  }

  done(uid: PodUid): void {
    this.urgent.delete(uid);
    this.later.delete(uid);
    this.notBefore.delete(uid);
    this.stages.delete(uid);
  }

  next(now: number, busy: ReadonlySet<PodUid>): PodUid | undefined {
    for (const set of [this.urgent, this.later]) {
      for (const uid of set) if (!busy.has(uid) && (this.notBefore.get(uid) ?? 0) <= now) return uid;
    }
    return undefined;
  }

  /** The earliest time at which a delayed status may be sent; undefined: none is delayed. */
  wakeAt(now: number, busy: ReadonlySet<PodUid>): number | undefined {
    let at: number | undefined;
    for (const [uid, time] of this.notBefore) {
      if (time > now && !busy.has(uid) && (at === undefined || time < at)) at = time;
    }
    return at;
  }

  get size(): number {
    return this.urgent.size + this.later.size;
  }
}
