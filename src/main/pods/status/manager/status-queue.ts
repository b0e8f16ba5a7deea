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
  /** Pods whose status is being sent. */
  private readonly busy = new Set<PodUid>();
  /** No delayed status that is not being sent may be sent before this time: until then the queue is not searched. */
  private earliest = Infinity;

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
    this.wait(uid, until);
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
    this.wait(uid, until);
    this.stages.delete(uid);
  }

  done(uid: PodUid): void {
    this.urgent.delete(uid);
    this.later.delete(uid);
    this.notBefore.delete(uid);
    this.stages.delete(uid);
  }

  /** The next status to send, which is busy until its release; undefined: none may be sent now. */
  take(now: number): PodUid | undefined {
    const uid = this.next(now);
    if (uid !== undefined) this.busy.add(uid);
    return uid;
  }

  /** The call for this pod has ended, with success or not. */
  release(uid: PodUid): void {
    this.busy.delete(uid);
    this.earliest = Math.min(this.earliest, this.notBefore.get(uid) ?? Infinity);
  }

  isBusy(uid: PodUid): boolean {
    return this.busy.has(uid);
  }

  get busyCount(): number {
    return this.busy.size;
  }

  /** The earliest time at which a delayed status may be sent, or one shortly before it; undefined: none is delayed. */
  wakeAt(now: number): number | undefined {
    if (this.earliest <= now) {
      this.earliest = Infinity;
      for (const [uid, time] of this.notBefore) if (!this.busy.has(uid)) this.earliest = Math.min(this.earliest, time);
    }
    return this.earliest === Infinity ? undefined : this.earliest;
  }

  get size(): number {
    return this.urgent.size + this.later.size;
  }

  private next(now: number): PodUid | undefined {
    const isDue = (uid: PodUid): boolean => !this.busy.has(uid) && (this.notBefore.get(uid) ?? 0) <= now;
    for (const uid of this.urgent) if (isDue(uid)) return uid;
    if (now < this.earliest) return undefined;
    for (const uid of this.later) if (isDue(uid)) return uid;
    return undefined;
  }

  private wait(uid: PodUid, until: number): void {
    this.notBefore.set(uid, until);
    this.earliest = Math.min(this.earliest, until);
  }
}
