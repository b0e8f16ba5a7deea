// Whose status is to be sent next: urgent ones first, each kind in the order in which it came, none before its time.
// A pod stays in its place until it is done, so that what could not be sent keeps its turn.
export class StatusQueue {
  private readonly urgent = new Set<string>();
  private readonly later = new Set<string>();
  /** Milliseconds of the monotonic clock. */
  private readonly notBefore = new Map<string, number>();

  add(uid: string, urgent: boolean, notBefore?: number): void {
    if (urgent && this.later.delete(uid)) this.notBefore.delete(uid);
    if (urgent) this.urgent.add(uid);
    else if (!this.urgent.has(uid)) {
      if (!this.later.has(uid) && notBefore !== undefined) this.notBefore.set(uid, notBefore);
      this.later.add(uid);
    }
  }

  has(uid: string): boolean {
    return this.urgent.has(uid) || this.later.has(uid);
  }

  /** It failed: nothing of it before this moment, whatever comes. */
  delay(uid: string, until: number): void {
    if (this.has(uid)) this.notBefore.set(uid, until);
  }

  done(uid: string): void {
    this.urgent.delete(uid);
    this.later.delete(uid);
    this.notBefore.delete(uid);
  }

  next(now: number, busy: ReadonlySet<string>): string | undefined {
    for (const set of [this.urgent, this.later]) {
      for (const uid of set) if (!busy.has(uid) && (this.notBefore.get(uid) ?? 0) <= now) return uid;
    }
    return undefined;
  }

  /** When the next one that waits may go; undefined: none waits for its time. */
  wakeAt(now: number, busy: ReadonlySet<string>): number | undefined {
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
