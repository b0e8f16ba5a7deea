// Timers by their time; timers of one moment in the order in which they were set.

export interface HeapEntry {
  readonly due: number;
  readonly order: number;
}

export class TimerHeap<T extends HeapEntry> {
  private readonly entries: T[] = [];

  get size(): number {
    return this.entries.length;
  }

  /** How many are so. */
  count(isCounted: (entry: T) => boolean): number {
    return this.entries.reduce((sum, entry) => (isCounted(entry) ? sum + 1 : sum), 0);
  }

  /** Removes all others. */
  keep(isKept: (entry: T) => boolean): void {
    const kept = this.entries.splice(0).filter(isKept);
    // Sorted entries are a heap.
    kept.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.entries.push(...kept);
  }

  push(entry: T): void {
    const { entries } = this;
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      entries[at] = parent;
      at = above;
    }
    entries[at] = entry;
  }

  shift(): T | undefined {
    const { entries } = this;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = entries[below];
      if (child === undefined) break;
      const right = entries[below + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        below++;
      }
      if (!isBefore(child, last)) break;
      entries[at] = child;
      at = below;
    }
    entries[at] = last;
    return first;
  }
}

function isBefore(a: HeapEntry, b: HeapEntry): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}
