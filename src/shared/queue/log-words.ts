// The shared words of the log: how much is logged now, and whether what main wants flushed has been written.
// Invariant: only main raises the verbosity and asks for flushes; only the log thread says that one is done.
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

  /** @returns the number of the flush now asked for; the log thread has to be woken apart from this. */
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

  /** Blocks the calling thread, `deadlineMs` at most: for a process that is about to end and nothing else. */
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
