// A part that is made later than its users: with the first use, or some time after the start of the kubelet. Its code
// is loaded then.
// Invariant: one load at a time; a failed load is not remembered; `stop` works at any moment, and nothing is loaded
// after it.

import { Lifetime } from "../abort/lifetime.js";
import type { Clock } from "../clock/clock.js";
import { abortReason } from "../errors/thrown.js";
import { lazily } from "./lazily.js";

/** The part is made without a user. A user that comes before makes it at once. */
export interface AfterStart {
  /** From `start` on; 0: with it. */
  readonly ms: number;
  /** A failed load is repeated after this time, ms; absent: it is not repeated. */
  readonly againMs?: number;
  readonly clock: Pick<Clock, "sleep">;
  /** Each failure, but for one that `stop` caused. */
  readonly failed: (error: unknown) => void;
}

export interface DeferredOptions<T> {
  /** For the list of components and its logs. */
  readonly name: string;
  readonly when: "first use" | AfterStart;
  /** `stop` aborts the signal. A part may work until then, and resolve at that moment. */
  load(signal: AbortSignal): Promise<T>;
  /** Ends the part; absent: nothing of it is left when the signal has aborted. */
  end?(part: T): unknown;
}

export class Deferred<T> {
  readonly name: string;
  private part: T | undefined;
  private loading: Promise<T> | undefined;
  private background: Promise<void> | undefined;
  private readonly lifetime = new Lifetime();
  private readonly load: () => Promise<T>;

  constructor(private readonly options: DeferredOptions<T>) {
    this.name = options.name;
    this.load = lazily(async () => {
      this.part = await options.load(this.lifetime.signal);
      return this.part;
    });
  }

  /** The part if it is there; never causes a load. */
  get current(): T | undefined {
    return this.part;
  }

  /** Loads the part if it is not there. Rejects as the load does, and after `stop`. */
  get(): Promise<T> {
    const { signal } = this.lifetime;
    if (signal.aborted) return Promise.reject(abortReason(signal));
    return (this.loading = this.load());
  }

  /** From now on the time of `when` counts. A part of first use waits for it. */
  start(): void {
    const { when } = this.options;
    if (when === "first use") return;
    this.background ??= this.loadAfter(when).catch((error: unknown) => {
      if (!this.lifetime.hasEnded) when.failed(error);
    });
  }

  /** Waits for a load under way, then ends the part. Rejects as its end does. */
  async stop(): Promise<void> {
    this.lifetime.end();
    await this.background;
    // A failure is the matter of those who asked for the part.
    await this.loading?.catch(() => undefined);
    const { part } = this;
    this.part = undefined;
    if (part !== undefined) await this.options.end?.(part);
  }

  private async loadAfter({ ms, againMs, clock, failed }: AfterStart): Promise<void> {
    const { signal } = this.lifetime;
    if (ms > 0) await clock.sleep(ms, signal);
    for (;;) {
      try {
        await this.get();
        return;
      } catch (error) {
        if (againMs === undefined || signal.aborted) throw error;
        failed(error);
        await clock.sleep(againMs, signal);
      }
    }
  }
}
