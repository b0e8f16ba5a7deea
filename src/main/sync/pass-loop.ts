// The passes of one pod worker, one after another: a poke during a pass adds one more pass, a failed pass is retried after a
// back-off, and a pod that nothing pokes is synced every `resyncMs`.
// Invariant: passes never overlap; after stop() and end() none begins.
import type { Clock, Timer } from "../../shared/clock/clock.js";
import type { PassRetry } from "./pass-retry.js";

interface PassLoopDeps {
  clock: Clock;
  retry: PassRetry;
  /** A pod that nothing pokes is synced this often (syncFrequency). */
  resyncMs: number;
  /** One pass. The signal aborts when its result is no longer wanted. */
  pass(signal: AbortSignal): Promise<void>;
  onFailed(error: unknown): void;
}

export class PassLoop {
  private dirty = false;
  private looping: Promise<void> | undefined;
  private timer: Timer | undefined;
  private abort = new AbortController();
  private closed = false;

  constructor(private readonly deps: PassLoopDeps) {}

  /** Of the pass under way. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  /** Something may have changed: plan again. Cheap. */
  poke(): void {
    if (this.closed) return;
    this.dirty = true;
    this.timer?.cancel();
    this.looping ??= this.run().finally(() => {
      this.looping = undefined;
      if (this.dirty) this.poke();
    });
  }

  /** The cause of failed passes may be gone (a new definition, the runtime's return): plan again without back-off. */
  pokeNow(): void {
    this.deps.retry.hurry();
    this.poke();
  }

  /** Schedules one more pass right after the current one. */
  again(): void {
    this.dirty = true;
  }

  /** Aborts the pass under way and plans again. */
  interrupt(why: string): void {
    this.abort.abort(new Error(why));
    this.pokeNow();
  }

  /** `at`: by the steady clock; undefined: at the next resync. */
  wakeAt(at: number | undefined): void {
    this.wakeIn(at === undefined ? this.deps.resyncMs : at - this.deps.clock.steady());
  }

  /** No pass follows the one under way. */
  end(): void {
    this.closed = true;
    this.dirty = false;
    this.timer?.cancel();
  }

  /** Aborts the pass under way and resolves when it has returned. */
  async stop(): Promise<void> {
    this.end();
    this.abort.abort(new Error("the kubelet is stopping"));
    await this.looping;
  }

  private async run(): Promise<void> {
    const { retry } = this.deps;
    while (this.dirty && !this.closed) {
      this.dirty = false;
      const { rest } = retry;
      if (rest > 0) {
        this.wakeIn(rest);
        return;
      }
      // One signal until it is used: what a pass began may go on into the next.
      if (this.abort.signal.aborted) this.abort = new AbortController();
      try {
        await this.deps.pass(this.abort.signal);
        retry.succeeded();
      } catch (error) {
        if (this.abort.signal.aborted) continue;
        this.deps.onFailed(error);
        this.wakeIn(retry.rest);
      }
    }
  }

  private wakeIn(ms: number): void {
    if (this.closed) return;
    this.timer?.cancel();
    this.timer = this.deps.clock.after(Math.max(Math.min(ms, this.deps.resyncMs), 1), () => this.poke());
  }
}
