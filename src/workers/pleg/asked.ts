// The pods that main requests inspections for. Main requests one after each call that creates or removes containers. An
// inspection that a relist or an event would cause for the same change is therefore redundant.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/** Main is likely still at it, milliseconds. */
const RECENT_MS = 2000;

export class Asked {
  /** Time of main's last inspect request, milliseconds of the monotonic clock. */
  private readonly at = new Map<PodUid, number>();

  constructor(private readonly clock: Pick<Clock, "monotonic">) {}

  note(uid: PodUid): void {
    this.at.set(uid, this.clock.monotonic());
  }

  has(uid: PodUid): boolean {
    return this.at.has(uid);
  }

  recently(uid: PodUid): boolean {
    const at = this.at.get(uid);
    return at !== undefined && this.clock.monotonic() - at < RECENT_MS;
  }

  forget(uid: PodUid): void {
    this.at.delete(uid);
  }
}
