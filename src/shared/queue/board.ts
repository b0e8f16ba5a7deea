// The thread board: every thread owns a line of shared words that all others read without asking it anything.
// That is the point: a thread stuck in a loop cannot answer, but its stamp goes stale for everyone to see.
//
// Each word has one writer (layout.ts says which) and is read and written atomically; a snapshot is not a transaction.
// Times are milliseconds since the board's epoch on the monotonic clock that all threads share, modulo 2^32.
import type { Clock } from "../clock/clock.js";
import { BOARD_LINE_WORDS, BoardWord, LAYOUT_VERSION, THREAD_STATES, type ThreadState } from "./layout.js";

/** What a thread needs to open the board. Structured-cloneable. */
export interface BoardBuffers {
  readonly layoutVersion: number;
  readonly memory: SharedArrayBuffer;
  /** Line numbers by position. */
  readonly threads: readonly string[];
  /** Clock.monotonic() of the board's making. */
  readonly epochMs: number;
}

/** One thread as its line shows it. */
export interface ThreadSnapshot {
  readonly name: string;
  readonly state: ThreadState;
  readonly generation: number;
  /** Milliseconds since its last loop tick. */
  readonly staleMs: number;
  /** Largest event-loop delay in the thread's rolling window, microseconds. */
  readonly loopDelayMaxMicros: number;
  readonly loopDelayMeanMicros: number;
  readonly queueDepth: number;
  /** Code of the current operation in the thread's own table; 0 = none. */
  readonly op: number;
  /** Milliseconds since the operation began. */
  readonly opForMs: number;
}

/** Makes a board with a line per name. Threads start out as "exited" of generation 0. */
export function createBoard(threadNames: readonly string[], clock: Pick<Clock, "monotonic">): BoardBuffers {
  if (new Set(threadNames).size !== threadNames.length) throw new RangeError("thread names on a board must be unique");
  const memory = new SharedArrayBuffer(threadNames.length * BOARD_LINE_WORDS * 4);
  const board: BoardBuffers = {
    layoutVersion: LAYOUT_VERSION,
    memory,
    threads: [...threadNames],
    epochMs: clock.monotonic(),
  };
  for (const name of threadNames) new BoardWriter(board, name, clock).setState("exited");
  return board;
}

function lineOf(board: BoardBuffers, name: string): Int32Array {
  const index = board.threads.indexOf(name);
  if (index < 0) throw new RangeError(`thread ${name} has no line on the board: ${board.threads.join(", ")} have`);
  return new Int32Array(board.memory, index * BOARD_LINE_WORDS * 4, BOARD_LINE_WORDS);
}

function tickOf(board: BoardBuffers, monotonicMs: number): number {
  return Math.floor(monotonicMs - board.epochMs) | 0;
}

/** Milliseconds from one stamp to a later one; a stamp slightly ahead of the reader's clock counts as now. */
function elapsed(from: number, to: number): number {
  const ms = (to - from) >>> 0;
  return ms > 0x7fffffff ? 0 : ms;
}

/** Writes one thread's line. */
export class BoardWriter {
  private readonly line: Int32Array;

  constructor(
    private readonly board: BoardBuffers,
    readonly name: string,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.line = lineOf(board, name);
  }

  /** "My event loop turns." */
  stamp(): void {
    Atomics.store(this.line, BoardWord.lastTick, this.tick());
  }

  /** Rolling event-loop delay, microseconds. */
  setLoopDelay(maxMicros: number, meanMicros: number): void {
    Atomics.store(this.line, BoardWord.loopDelayMax, clampWord(maxMicros));
    Atomics.store(this.line, BoardWord.loopDelayMean, clampWord(meanMicros));
  }

  setQueueDepth(records: number): void {
    Atomics.store(this.line, BoardWord.queueDepth, clampWord(records));
  }

  /** What the thread begins to do now: a code of its own table, 0 when it is done. */
  setOp(code: number): void {
    Atomics.store(this.line, BoardWord.opSince, this.tick());
    Atomics.store(this.line, BoardWord.op, clampWord(code));
  }

  /** The supervisor's word; main sets its own. */
  setState(state: ThreadState): void {
    Atomics.store(this.line, BoardWord.state, THREAD_STATES.indexOf(state));
  }

  /** The supervisor's word: a new start, with a fresh stamp so that it is not born stale. */
  setGeneration(generation: number): void {
    Atomics.store(this.line, BoardWord.generation, clampWord(generation));
    this.setOp(0);
    this.setQueueDepth(0);
    this.setLoopDelay(0, 0);
    this.stamp();
  }

  private tick(): number {
    return tickOf(this.board, this.clock.monotonic());
  }
}

/** Reads all lines, from any thread. */
export class BoardReader {
  private readonly lines: ReadonlyMap<string, Int32Array>;

  constructor(
    private readonly board: BoardBuffers,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.lines = new Map(board.threads.map((name) => [name, lineOf(board, name)]));
  }

  /** All threads, in board order. */
  snapshot(): ThreadSnapshot[] {
    return this.board.threads.map((name) => this.thread(name));
  }

  thread(name: string): ThreadSnapshot {
    const line = this.line(name);
    const now = this.clock.monotonic();
    const tick = tickOf(this.board, now);
    return {
      name,
      state: THREAD_STATES[Atomics.load(line, BoardWord.state)] ?? "exited",
      generation: Atomics.load(line, BoardWord.generation),
      staleMs: this.staleFor(name, now),
      loopDelayMaxMicros: Atomics.load(line, BoardWord.loopDelayMax),
      loopDelayMeanMicros: Atomics.load(line, BoardWord.loopDelayMean),
      queueDepth: Atomics.load(line, BoardWord.queueDepth),
      op: Atomics.load(line, BoardWord.op),
      opForMs: elapsed(Atomics.load(line, BoardWord.opSince), tick),
    };
  }

  /** Milliseconds since the thread's last tick; `now` is Clock.monotonic(). */
  staleFor(thread: string, now = this.clock.monotonic()): number {
    return elapsed(Atomics.load(this.line(thread), BoardWord.lastTick), tickOf(this.board, now));
  }

  private line(name: string): Int32Array {
    const line = this.lines.get(name);
    if (line === undefined) throw new RangeError(`thread ${name} has no line on the board`);
    return line;
  }
}

function clampWord(value: number): number {
  return Math.max(0, Math.min(0x7fffffff, Math.round(value)));
}
