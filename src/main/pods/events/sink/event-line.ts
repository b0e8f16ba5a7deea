// Events that wait to be sent. Routine ones wait for each other: in a burst of pods each event costs the API server and
// the kubelet processor time that the pods need for their start, and a message that comes a second later is as good.
// Warnings go first, at once.
// Invariant: the line is bounded; the oldest routine event is dropped first.

import type { MonotonicTime } from "../../../../shared/base/clock/moments.js";
import type { Event } from "../../../../shared/kubernetes/api/event.js";

export const QUEUE_LIMIT = 1000;
/** Wait of a routine event while no other waits. */
const WAIT_MS = 500;
/** Added for each event that waits already. */
const WAIT_FOR_EACH_MS = 25;
/** Upper bound of the sum. */
const WHOLE_WAIT_MS = 2000;

export interface Waiting {
  event: Event;
  /** The server has the event: only its count is new. */
  again: boolean;
  /** By the monotonic clock. */
  dueAt: number;
}

export class EventLine {
  /** By namespace and name: a repeat of a waiting event takes its place. */
  private readonly warnings = new Map<string, Waiting>();
  private readonly routine = new Map<string, Waiting>();

  get size(): number {
    return this.warnings.size + this.routine.size;
  }

  /** Returns false if another event had to go for this one. */
  put(event: Event, again: boolean, now: MonotonicTime): boolean {
    const isWarning = event.type === "Warning";
    const line = isWarning ? this.warnings : this.routine;
    const key = keyOf(event);
    const waiting = line.get(key);
    const waitMs = isWarning ? 0 : Math.min(WHOLE_WAIT_MS, WAIT_MS + WAIT_FOR_EACH_MS * this.size);
    line.set(key, { event, again: waiting?.again ?? again, dueAt: waiting?.dueAt ?? now + waitMs });
    if (this.size <= QUEUE_LIMIT) return true;
    const oldest = firstOf(this.routine) ?? firstOf(this.warnings);
    if (oldest !== undefined) this.take(oldest);
    return false;
  }

  /** The next event: a warning, or the oldest routine one, due or not. It stays in the line. */
  get first(): Waiting | undefined {
    return firstOf(this.warnings) ?? firstOf(this.routine);
  }

  /** Takes an event out of the line. */
  take({ event }: Waiting): void {
    const key = keyOf(event);
    if (!this.warnings.delete(key)) this.routine.delete(key);
  }

  clear(): void {
    this.warnings.clear();
    this.routine.clear();
  }
}

function firstOf(line: ReadonlyMap<string, Waiting>): Waiting | undefined {
  return line.values().next().value;
}

export function keyOf({ metadata }: Event): string {
  return `${metadata.namespace}/${metadata.name}`;
}
