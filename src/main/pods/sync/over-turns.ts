// Turns of the pods that ended before this kubelet started: a few of them at once look for their remains. A node may
// have thousands of them.
// Invariant: a pod that waits costs one entry of a line, no pass; it may leave the line at any time.

import { WaitingLine } from "../../../shared/base/turns/waiting-line.js";

type Turn = () => Promise<void>;

export class OverTurns {
  private readonly line = new WaitingLine<Turn>();
  private running = 0;

  constructor(private readonly most: number) {}

  /**
   * Calls `turn` when there is room; it never rejects. @returns how to leave the line before that; undefined: the turn
   * has begun
   */
  add(turn: Turn): (() => void) | undefined {
    let waits = true as boolean;
    const place = this.line.add(() => {
      waits = false;
      place.leave();
      return turn();
    });
    this.fill();
    return waits ? () => place.leave() : undefined;
  }

  private fill(): void {
    while (this.running < this.most) {
      const next = this.line.first;
      if (next === undefined) return;
      this.running++;
      void next().finally(() => {
        this.running--;
        this.fill();
      });
    }
  }
}
