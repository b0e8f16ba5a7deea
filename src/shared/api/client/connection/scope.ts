// A signal that ends with another one, or when time is up. Not AbortSignal.any: Node 20 keeps its results for as long as a
// long-lived source lives.
import type { Clock, Timer } from "../../../clock/clock.js";
import { reasonOf } from "./wire.js";

export class Scope {
  private readonly controller = new AbortController();
  private timer: Timer | undefined;
  private readonly onParent = (): void => {
    if (this.parent !== undefined) this.controller.abort(reasonOf(this.parent));
  };

  constructor(private readonly parent: AbortSignal | undefined) {
    if (parent?.aborted === true) this.onParent();
    else parent?.addEventListener("abort", this.onParent, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Ends with `reason` after `ms`; replaces an earlier limit. */
  limit(clock: Clock, ms: number, reason: () => Error): void {
    this.timer?.cancel();
    this.timer = clock.after(ms, () => this.controller.abort(reason()));
  }
  unlimited(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }
  abort(reason: Error): void {
    this.controller.abort(reason);
  }

  /** Lets go of parent and timer; to be called when what the scope was for is over. */
  dispose(): void {
    this.unlimited();
    this.parent?.removeEventListener("abort", this.onParent);
  }
}

/** The promise's outcome, unless the signal ends first; the promise goes on by itself. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(reasonOf(signal));
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(reasonOf(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    promise
      .finally(() => {
        signal.removeEventListener("abort", onAbort);
      })
      .then(resolve, reject);
  });
}
