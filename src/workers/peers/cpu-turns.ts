// Turns of the servers' bytes on this thread. A piece of a handshake can cost a fifth of a second, and OpenSSL cannot
// be interrupted.
// Invariant: after a costly piece the thread is free for as long as that piece took, for timers and for all other
// connections; of the pieces that wait, the one of the pod that has cost least is next.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import type { ThreadCpu } from "../../shared/thread/thread-cpu.js";
import type { PeerRun } from "./accounts.js";

/** A piece that costs more, ms, makes the others wait. */
const REST_FROM_MS = 5;

interface Piece {
  run: PeerRun;
  work: () => void;
  /** When it began to wait. */
  since: number;
}

export class CpuTurns {
  private readonly waiting: Piece[] = [];
  private rest: Timer | undefined;

  constructor(
    private readonly clock: Pick<Clock, "monotonic" | "after">,
    private readonly cpu: ThreadCpu,
  ) {}

  /** Does the work now, or when its turn comes; its cost is charged to the run. Returns true when it is done. */
  take(run: PeerRun, work: () => void): boolean {
    if (this.rest !== undefined) {
      this.waiting.push({ run, work, since: this.clock.monotonic() });
      return false;
    }
    this.perform(run, work);
    return true;
  }

  private perform(run: PeerRun, work: () => void): void {
    const before = this.cpu();
    try {
      work();
    } finally {
      const cost = this.cpu() - before;
      run.charge(cost);
      if (cost > REST_FROM_MS || this.waiting.length > 0) {
        this.rest = this.clock.after(cost > REST_FROM_MS ? Math.ceil(cost) : 0, () => this.next());
      }
    }
  }

  private next(): void {
    this.rest = undefined;
    const piece = this.cheapest();
    if (piece === undefined) return;
    piece.run.onWaited(this.clock.monotonic() - piece.since);
    this.perform(piece.run, piece.work);
  }

  private cheapest(): Piece | undefined {
    let [best, least] = [-1, Infinity];
    for (const [at, { run }] of this.waiting.entries()) {
      const attained = run.attainedMs;
      if (attained < least) [best, least] = [at, attained];
    }
    return best < 0 ? undefined : this.waiting.splice(best, 1)[0];
  }
}
