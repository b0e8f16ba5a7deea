// The pods that main requests inspections for. Main requests one after each call that creates or removes containers. An
// inspection that a relist or an event would cause for the same change is therefore redundant.

import type { Clock } from "../../shared/base/clock/clock.js";

/** Main is likely still at it, milliseconds. */
const RECENT_MS = 2000;

export class Asked {
  /** Time of main's last inspect request, milliseconds of the monotonic clock. */
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
