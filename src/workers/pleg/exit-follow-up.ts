// A container's cgroup goes away a moment before the runtime has written down its exit. Inspects again, at growing
// distances, until the pod's state changed or the tries are used up; the relist is the net below.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/**
 * Milliseconds from the removal to each look. containerd 1.6 records the exit 16 to 23 ms after the removal of the
 * cgroup (measured). An earlier look would be in vain.
 */
const LOOKS_MS = [14, 20, 28, 45, 80, 150, 300, 1000];

export class ExitFollowUp {
  private readonly timers = new Map<PodUid, Timer>();

  constructor(
    private readonly clock: Clock,
    private readonly look: (uid: PodUid) => void,
  ) {}

  start(uid: PodUid): void {
    this.end(uid);
    this.step(uid, 0);
  }

  /** The pod's state changed, or no caller waits for it any more. */
  end(uid: PodUid): void {
    this.timers.get(uid)?.cancel();
    this.timers.delete(uid);
  }

  close(): void {
    for (const uid of [...this.timers.keys()]) this.end(uid);
  }

  private step(uid: PodUid, index: number): void {
    const at = LOOKS_MS[index];
    if (at === undefined) {
      this.timers.delete(uid);
      return;
    }
    const timer = this.clock.after(at - (LOOKS_MS[index - 1] ?? 0), () => {
      this.step(uid, index + 1);
      this.look(uid);
    });
    this.timers.set(uid, timer.unref());
  }
}
