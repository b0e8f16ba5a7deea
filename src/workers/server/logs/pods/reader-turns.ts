// Turns of a server thread for all readers of containers' logs, by any of its ports. Readers use a processor as long as
// there are bytes; everything else on the thread is short work in many rounds.
// Invariant: one of these a thread. A reader's piece is scanned in its turn, and pods take turns: thirty readers of one
// pod delay those of another as one does. After each share the thread rests, for longer while the machine is busy.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import { LoopShare, SHARE_MS } from "../../../../shared/base/turns/loop-share.js";
import type { PodUid } from "../../../../shared/kubernetes/identifiers.js";

/** After a share of 5 ms. A file or another thread answers some ten times in it. */
const LEAST_REST_MS = 1;
/** A share that takes so long is a rare one. */
const LONGEST_REST_MS = 50;

export class ReaderTurns {
  private readonly share: LoopShare;
  /** Readers that wait, by pod; the pod that is next comes first. */
  private readonly waiting = new Map<PodUid, (() => void)[]>();
  private isServing = false;

  /**
   * While the thread waits for a processor, it rests as long: the kernel lets a thread run soon that has used less than
   * its part, and requests are many short runs.
   */
  constructor(clock: Pick<Clock, "monotonic" | "sleep">) {
    this.share = new LoopShare(clock, (tookMs) => {
      const restMs = Math.min(LONGEST_REST_MS, Math.max(LEAST_REST_MS, tookMs - SHARE_MS));
      return clock.sleep(restMs);
    });
  }

  /** Await what it returns directly before a piece of work. The readers of one pod have one turn of each round. */
  turn(pod: PodUid): Promise<void> {
    return new Promise((resolve) => {
      const readers = this.waiting.get(pod);
      if (readers === undefined) this.waiting.set(pod, [resolve]);
      else readers.push(resolve);
      if (!this.isServing) void this.serve();
    });
  }

  /** Never rejects. */
  private async serve(): Promise<void> {
    this.isServing = true;
    while (this.waiting.size > 0) {
      await this.share.turn();
      for (const [pod, readers] of this.waiting) {
        this.waiting.delete(pod);
        const [next] = readers.splice(0, 1);
        if (readers.length > 0) this.waiting.set(pod, readers);
        // It continues before the next turn begins: it was first to wait.
        next?.();
        break;
      }
    }
    this.isServing = false;
  }
}
