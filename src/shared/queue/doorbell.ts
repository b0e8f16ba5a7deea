// Doorbell: wakes the other side of a ring without blocking either thread (why waitAsync: docs/adr/0003-doorbell.md).
//
// A sequence word that every ring of the bell raises, and a waiting word that makes ringing free while nobody waits.
// The listener reads the sequence, says that it waits, looks once more for work, and only then sleeps; the ringer
// publishes its work first and then looks at the waiting word. Whatever the interleaving, one of the two sees the other.
// A wake-up lost all the same is repaired by the listener's own re-check: no wait is longer than that cap.
import type { Clock, Timer } from "../clock/clock.js";

/** Longest time a lost wake-up can stay unnoticed, milliseconds. */
export const DEFAULT_RECHECK_MS = 200;

export interface BellWords {
  readonly words: Int32Array;
  /** Index of the sequence word. */
  readonly sequence: number;
  /** Index of the waiting word. */
  readonly waiting: number;
}

/** Rings the bell if the other side waits. Call it after the work has been published. */
export function ring(bell: BellWords): void {
  if (Atomics.load(bell.words, bell.waiting) === 0) return;
  Atomics.store(bell.words, bell.waiting, 0);
  Atomics.add(bell.words, bell.sequence, 1);
  Atomics.notify(bell.words, bell.sequence);
}

/**
 * The waiting side. `onWake` runs in a turn of its own after `arm()`, once per arming: because the bell rang, or because
 * the re-check came round. It never keeps the process alive.
 */
export class BellListener {
  private armed = false;
  private sleeping = false;
  private closed = false;
  private timer: Timer | undefined;
  /** Wake-ups by the re-check: with a lively producer these are repaired losses, with a quiet one mere looks. */
  rechecks = 0;

  constructor(
    private readonly bell: BellWords,
    private readonly clock: Clock,
    private readonly onWake: (byRecheck: boolean) => void,
    private readonly recheckMs = DEFAULT_RECHECK_MS,
  ) {}

  /**
   * Goes to sleep unless `hasWork` finds some after the waiting word was set; false means "there is work, do it now".
   */
  arm(hasWork: () => boolean): boolean {
    if (this.closed) return true;
    const sequence = Atomics.load(this.bell.words, this.bell.sequence);
    Atomics.store(this.bell.words, this.bell.waiting, 1);
    if (hasWork()) {
      Atomics.store(this.bell.words, this.bell.waiting, 0);
      return false;
    }
    this.armed = true;
    this.timer ??= this.clock.every(this.recheckMs, () => {
      this.recheck();
    });
    this.timer.unref();
    this.sleep(sequence);
    return true;
  }

  /** Stops listening; the pending wait is released so that nothing holds this object. */
  close(): void {
    this.closed = true;
    this.armed = false;
    this.timer?.cancel();
    this.timer = undefined;
    Atomics.store(this.bell.words, this.bell.waiting, 0);
    if (this.sleeping) Atomics.notify(this.bell.words, this.bell.sequence);
  }

  private sleep(sequence: number): void {
    // One wait at a time: an earlier one that the re-check overtook still stands on the same word.
    if (this.sleeping) return;
    const result = Atomics.waitAsync(this.bell.words, this.bell.sequence, sequence);
    this.sleeping = true;
    const woken = result.async ? result.value : Promise.resolve(result.value);
    void woken.then(() => {
      this.sleeping = false;
      this.wake(false);
    });
  }

  private recheck(): void {
    if (!this.armed) return;
    this.rechecks++;
    this.wake(true);
  }

  private wake(byRecheck: boolean): void {
    if (!this.armed || this.closed) return;
    this.armed = false;
    this.onWake(byRecheck);
  }
}
