// Abort signals: a signal that aborts with its parent, by its owner's call, or after a timeout; and the wait for a
// promise until a signal aborts. Not AbortSignal.any: Node 20 keeps an entry of every result for as long as a source
// exists. Invariant: a disposed scope has removed its listener from its parent.

import type { Clock, Timer } from "../clock/clock.js";
import { abortReason } from "../errors/thrown.js";

export class Scope implements Disposable {
  private readonly controller = new AbortController();
  private timer: Timer | undefined;
  private readonly onParent = (): void => {
    if (this.parent !== undefined) this.controller.abort(abortReason(this.parent));
  };

  constructor(private readonly parent: AbortSignal | undefined) {
    if (parent?.aborted === true) this.onParent();
    else parent?.addEventListener("abort", this.onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Ends with `reason` after `ms`; replaces an earlier limit. */
  limit(clock: Pick<Clock, "after">, ms: number, reason: () => Error): this {
    this.timer?.cancel();
    this.timer = clock.after(ms, () => this.controller.abort(reason()));
    return this;
  }
  unlimited(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** Removes the listener and the timer. Call it when the work of the scope has ended. */
  dispose(): void {
    this.unlimited();
    this.parent?.removeEventListener("abort", this.onParent);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
