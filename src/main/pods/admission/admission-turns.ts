// The turn to decide about pods: one pod has it at a time. A pod that waits for somebody else leaves its turn, so that
// the others pass.
// Invariant: between two waits, a pod's view of the node's free resources does not change; a pod that comes back from a
// wait is before all that have not begun.

/** The turn of one pod, as its admission uses it. */
export interface AdmissionTurn {
  /**
   * Gives the turn to others while `wait` runs, and settles as it does, after the turn has come again. What the pod
   * needs must be reserved before: other pods are admitted meanwhile.
   */
  leave<T>(wait: () => Promise<T>): Promise<T>;
}

export class AdmissionTurns {
  private taken = false;
  private readonly returning: (() => void)[] = [];
  private readonly line: (() => void)[] = [];
  private readonly turn: AdmissionTurn = {
    leave: async (wait) => {
      this.pass();
      try {
        return await wait();
      } finally {
        await this.take(this.returning);
      }
    },
  };

  /** In the order of the calls. Settles as `work` does. */
  async run<T>(work: (turn: AdmissionTurn) => Promise<T>): Promise<T> {
    await this.take(this.line);
    try {
      return await work(this.turn);
    } finally {
      this.pass();
    }
  }

  private async take(line: (() => void)[]): Promise<void> {
    if (this.taken) await new Promise<void>((resolve) => line.push(resolve));
    this.taken = true;
  }

  /** To the next one, for whom the turn stays taken. */
  private pass(): void {
    const next = this.returning.shift() ?? this.line.shift();
    if (next === undefined) this.taken = false;
    else next();
  }
}
