// Shared memory of the log: the present verbosity, and the numbers of requested and completed flushes. Invariant: only
// main raises the verbosity and requests flushes; only the log thread marks a flush as completed.

import { LOG_WORDS, LogWord, WORD_BYTES } from "./layout.js";

/** Structured-cloneable; clones share the memory. */
export interface LogWordsBuffer {
  memory: SharedArrayBuffer;
}

export function createLogWords(verbosity: number): LogWordsBuffer {
  const buffer = { memory: new SharedArrayBuffer(LOG_WORDS * WORD_BYTES) };
  new LogWords(buffer).verbosity = verbosity;
  return buffer;
}

export class LogWords {
  private readonly words: Int32Array;

  constructor(buffer: LogWordsBuffer) {
    this.words = new Int32Array(buffer.memory);
  }

  /** The value of -v. A plain load: it is read at every log call, and a change may arrive a moment later. */
  get verbosity(): number {
    return this.words[LogWord.verbosity] ?? 0;
  }

  set verbosity(verbosity: number) {
    Atomics.store(this.words, LogWord.verbosity, verbosity);
  }

  /** @returns the number of the requested flush; the caller must also wake the log thread. */
  askFlush(): number {
    return (Atomics.add(this.words, LogWord.flushAsked, 1) + 1) | 0;
  }

  get flushAsked(): number {
    return Atomics.load(this.words, LogWord.flushAsked);
  }

  isFlushed(asked: number): boolean {
    return ((Atomics.load(this.words, LogWord.flushDone) - asked) | 0) >= 0;
  }

  flushDone(asked: number): void {
    Atomics.store(this.words, LogWord.flushDone, asked);
    Atomics.notify(this.words, LogWord.flushDone);
  }

  /** Blocks the calling thread, `deadlineMs` at most: only for a process that is about to exit. */
  waitFlushed(asked: number, deadlineMs: number, monotonic: () => number): boolean {
    const end = monotonic() + deadlineMs;
    while (!this.isFlushed(asked)) {
      const left = end - monotonic();
      if (left <= 0) return false;
      Atomics.wait(this.words, LogWord.flushDone, Atomics.load(this.words, LogWord.flushDone), Math.min(left, 50));
    }
    return true;
  }
}
