// Which pods main asks about. Main asks after each call that makes or removes a container, so that what a relist or an
// event tells of such a change would be one more look at what main is about to ask for anyway.
import type { Clock } from "../../shared/clock/clock.js";

/** Main is likely still at it, milliseconds. */
const RECENT_MS = 2000;

export class Asked {
  /** When main asked last, milliseconds of the monotonic clock. */
  private readonly at = new Map<string, number>();

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  note(uid: string): void {
    this.at.set(uid, this.clock.monotonic());
  }

  has(uid: string): boolean {
    return this.at.has(uid);
  }

  recently(uid: string): boolean {
    const at = this.at.get(uid);
    return at !== undefined && this.clock.monotonic() - at < RECENT_MS;
  }

  forget(uid: string): void {
    this.at.delete(uid);
  }
}
