// Signals that abort with one parent, any number at once. EventTarget searches its listeners for each one that is added
// or removed: ten thousand calls that listen to one signal would take quadratic time. A branch has a few listeners of
// its own.
// Invariant: the parent has one listener, until dispose().

import { abortReason } from "../errors/thrown.js";

export class AbortBranches implements Disposable {
  private readonly open = new Set<AbortController>();
  private readonly onAbort = (): void => {
    for (const controller of this.open) controller.abort(abortReason(this.parent));
    this.open.clear();
  };

  constructor(private readonly parent: AbortSignal) {
    parent.addEventListener("abort", this.onAbort, { once: true });
  }

  /** Runs `work` with a branch of its own. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    if (this.parent.aborted) controller.abort(abortReason(this.parent));
    this.open.add(controller);
    try {
      return await work(controller.signal);
    } finally {
      this.open.delete(controller);
    }
  }

  [Symbol.dispose](): void {
    this.parent.removeEventListener("abort", this.onAbort);
  }
}
