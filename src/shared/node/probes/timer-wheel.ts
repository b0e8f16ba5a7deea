// Schedule of all probes: a hashed timer wheel. A thousand schedules need only one timer. Invariant: an item is called
// once per due time, within WAKE_MS after it. Items of different slots are called in the order of their times.

import type { Clock, Timer } from "../../base/clock/clock.js";
import type { MonotonicTime } from "../../base/clock/moments.js";
import { invariant } from "../../base/errors/invariant.js";

const SLOT_MS = 16;
const SLOTS = 256;
/**
 * The timer fires at multiples of this, ms, so that items due close together share one wake-up of the thread. At 300
 * items a second, wake-ups are a sixth of the cost. @internal
 */
export const WAKE_MS = 4;

interface Place {
  due: MonotonicTime;
  slot: Map<unknown, Place>;
}

export class TimerWheel<T> {
  private readonly slots: Map<T, Place>[] = Array.from({ length: SLOTS }, () => new Map<T, Place>());
  private readonly places = new Map<T, Place>();
  /** Number of the last visited slot; earlier ones hold nothing that is due. */
  private cursor: number;
  private timer: Timer | undefined;
  /** Expiry of the timer, on the clock's monotonic scale. */
  private wakesAt = Infinity;

  constructor(
    private readonly clock: Pick<Clock, "monotonic" | "after">,
    private readonly onDue: (item: T, due: MonotonicTime) => void,
  ) {
    this.cursor = Math.floor(clock.monotonic() / SLOT_MS);
  }

  get size(): number {
    return this.places.size;
  }

  /** Schedules an item and replaces its earlier time. */
  set(item: T, dueMs: MonotonicTime): void {
    invariant(!Number.isNaN(dueMs), "an item is due at a time");
    this.remove(item);
    const slot = this.slotAt(Math.max(Math.floor(dueMs / SLOT_MS), this.cursor));
    const place: Place = { due: dueMs, slot };
    slot.set(item, place);
    this.places.set(item, place);
    this.armBy(dueMs);
  }

  delete(item: T): void {
    this.remove(item);
    if (this.places.size === 0) this.disarm();
  }

  clear(): void {
    for (const slot of this.slots) slot.clear();
    this.places.clear();
    this.disarm();
  }

  private remove(item: T): void {
    const place = this.places.get(item);
    if (place === undefined) return;
    place.slot.delete(item);
    this.places.delete(item);
  }

  private turn(): void {
    this.disarm();
    const now = this.clock.monotonic();
    const upTo = Math.floor(now / SLOT_MS);
    const due: [T, MonotonicTime][] = [];
    // After a long stop every slot is visited once.
    for (let number = Math.max(this.cursor, upTo - SLOTS + 1); number <= upTo; number++) {
      for (const [item, place] of this.slotAt(number)) if (place.due <= now) due.push([item, place.due]);
    }
    this.cursor = upTo;
    due.sort(([, a], [, b]) => a - b);
    for (const [item] of due) this.remove(item);
    for (const [item, at] of due) this.onDue(item, at);
    this.armNext();
  }

  /** Searches one turn of the wheel ahead; later items are found when that has passed. */
  private armNext(): void {
    if (this.places.size === 0) return;
    for (let number = this.cursor; number < this.cursor + SLOTS; number++) {
      let first = Infinity;
      for (const { due } of this.slotAt(number).values()) {
        if (due < first && Math.floor(due / SLOT_MS) <= number) first = due;
      }
      if (first === Infinity) continue;
      this.armBy(first);
      return;
    }
    this.armBy((this.cursor + SLOTS) * SLOT_MS);
  }

  private armBy(dueMs: number): void {
    const at = Math.ceil(dueMs / WAKE_MS) * WAKE_MS;
    if (at >= this.wakesAt) return;
    this.timer?.cancel();
    this.wakesAt = at;
    this.timer = this.clock.after(Math.max(0, Math.ceil(at - this.clock.monotonic())), () => this.turn());
  }

  private disarm(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.wakesAt = Infinity;
  }

  private slotAt(number: number): Map<T, Place> {
    const slot = this.slots[number % SLOTS];
    if (slot === undefined) throw new RangeError(`the timer wheel has no slot ${number}`);
    return slot;
  }
}
