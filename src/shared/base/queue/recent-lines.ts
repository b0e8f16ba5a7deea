// The last log lines of the process in shared memory: the log thread appends, the server thread reads for `nodelet
// support-bundle`.
// Invariant: the newest whole lines are kept, and old bytes are overwritten. `reserved` moves before bytes are written
// and `tail` after them, so a reader can tell which bytes of its copy may have changed under it. Nobody waits for
// anybody.

import { RECENT_HEADER_BYTES, RecentWord, WORD_BYTES } from "./layout.js";

/** Structured-cloneable; clones share the memory. */
export interface RecentLinesBuffer {
  memory: SharedArrayBuffer;
}

/** About a thousand lines. */
const RECENT_BYTES = 256 * 1024;
const LINE_FEED = 10;

/** @param capacityBytes a power of two, so that positions may wrap */
export function createRecentLines(capacityBytes = RECENT_BYTES): RecentLinesBuffer {
  return { memory: new SharedArrayBuffer(RECENT_HEADER_BYTES + capacityBytes) };
}

export class RecentLines {
  private readonly words: Int32Array;
  private readonly data: Uint8Array;

  constructor({ memory }: RecentLinesBuffer) {
    this.words = new Int32Array(memory, 0, RECENT_HEADER_BYTES / WORD_BYTES);
    this.data = new Uint8Array(memory, RECENT_HEADER_BYTES);
  }

  /** For the one writing thread. Of a line longer than the memory only the end is kept. */
  append(line: Uint8Array): void {
    const kept = line.subarray(Math.max(0, line.length - this.data.length));
    const from = Atomics.load(this.words, RecentWord.tail) >>> 0;
    const to = (from + kept.length) >>> 0;
    Atomics.store(this.words, RecentWord.reserved, to | 0);
    const at = from % this.data.length;
    const first = kept.subarray(0, this.data.length - at);
    this.data.set(first, at);
    this.data.set(kept.subarray(first.length), 0);
    if (at + kept.length >= this.data.length) Atomics.store(this.words, RecentWord.full, 1);
    Atomics.store(this.words, RecentWord.tail, to | 0);
  }

  /** The whole lines, oldest first. */
  text(): string {
    const capacity = this.data.length;
    const tail = Atomics.load(this.words, RecentWord.tail) >>> 0;
    const copy = this.data.slice();
    // Written while the copy was made: the oldest bytes of it are not what they were.
    const lost = Math.min(capacity, ((Atomics.load(this.words, RecentWord.reserved) >>> 0) - tail) >>> 0);
    const isFull = Atomics.load(this.words, RecentWord.full) === 1;
    const at = tail % capacity;
    const lines = Buffer.concat([isFull ? copy.subarray(at) : new Uint8Array(), copy.subarray(0, at)]).subarray(
      isFull ? lost : 0,
    );
    if (!isFull) return lines.toString("utf8");
    const firstEnd = lines.indexOf(LINE_FEED);
    return lines.subarray(firstEnd + 1).toString("utf8");
  }
}
