// The thread board: the last state that each thread reported. Every thread can read it without a message, so all
// others see a thread that hangs.
// Invariant: a slot is written by its own thread only; the supervisor writes it while that thread does not exist.

import type { Clock } from "../clock/clock.js";
import { InvariantError } from "../errors/invariant.js";
import { BOARD_SLOT_WORDS, BoardWord, WORD_BYTES } from "./layout.js";

/** States of a thread. The index is the word on the board. resting: it runs only while there is work for it. */
const THREAD_STATES = ["spawned", "ready", "running", "draining", "exited", "resting"] as const;
export type ThreadState = (typeof THREAD_STATES)[number];

/** Structured-cloneable; clones share the memory. */
export interface BoardBuffers {
  memory: SharedArrayBuffer;
  threads: readonly string[];
}

export function createBoard(threadNames: readonly string[]): BoardBuffers {
  if (new Set(threadNames).size !== threadNames.length) {
    throw new RangeError(`thread board: names must differ, got ${threadNames.join(", ")}`);
  }
  return {
    memory: new SharedArrayBuffer(threadNames.length * BOARD_SLOT_WORDS * WORD_BYTES),
    threads: [...threadNames],
  };
}

/** The thread has no slot: its name was not among those of createBoard. */
function unknownThreadError(thread: string, known: readonly string[]): InvariantError {
  return new InvariantError(`thread board has no slot for ${thread}: its slots are ${known.join(", ")}`);
}

function slotOf(buffers: BoardBuffers, thread: string): Int32Array {
  const index = buffers.threads.indexOf(thread);
  if (index < 0) throw unknownThreadError(thread, buffers.threads);
  return new Int32Array(buffers.memory, index * BOARD_SLOT_WORDS * WORD_BYTES, BOARD_SLOT_WORDS);
}

/** Monotonic ms as a board word; differences stay right for 24 days. */
const tick = (clock: Pick<Clock, "monotonic">): number => Math.trunc(clock.monotonic()) | 0;

/** Writes a thread's own slot. */
export class BoardWriter {
  private readonly slot: Int32Array;
  private queue: (() => number) | undefined;

  constructor(
    buffers: BoardBuffers,
    readonly thread: string,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.slot = slotOf(buffers, thread);
  }

  /** Stamps the current time: the thread runs. */
  stamp(): void {
    if (this.queue !== undefined) this.setQueueDepth(this.queue());
    Atomics.store(this.slot, BoardWord.lastTick, tick(this.clock));
    Atomics.add(this.slot, BoardWord.stamps, 1);
  }

  /** Event-loop delay over the caller's rolling window, µs. */
  setLoopDelay(maxMicros: number, meanMicros: number): void {
    Atomics.store(this.slot, BoardWord.loopDelayMax, Math.round(maxMicros));
    Atomics.store(this.slot, BoardWord.loopDelayMean, Math.round(meanMicros));
  }

  setState(state: ThreadState): void {
    Atomics.store(this.slot, BoardWord.state, THREAD_STATES.indexOf(state));
  }

  /** Each stamp publishes the number of records that wait for main. */
  followQueue(read: () => number): void {
    this.queue = read;
  }

  setQueueDepth(records: number): void {
    Atomics.store(this.slot, BoardWord.queueDepth, records);
  }

  /** Publishes the operation that the thread starts; 0 is idle. Codes belong to the thread's contract. */
  setOp(code: number): void {
    Atomics.store(this.slot, BoardWord.opSince, tick(this.clock));
    Atomics.store(this.slot, BoardWord.op, code);
  }

  /** A round of the thread's own duty succeeded; for pleg, a relist. */
  worked(): void {
    Atomics.store(this.slot, BoardWord.lastWork, tick(this.clock));
    Atomics.add(this.slot, BoardWord.works, 1);
  }

  /** Publishes the pressure conditions of the node: bits of the eviction thread's contract. */
  setPressures(bits: number): void {
    Atomics.store(this.slot, BoardWord.pressures, bits);
  }

  /** A new start of the thread: clears the values of the last generation and stamps. */
  reset(generation: number): void {
    this.clear(generation);
    this.stamp();
  }

  /** The thread has ended until there is work for it: its slot has no stamp, and no value of the last generation. */
  rest(generation: number): void {
    this.clear(generation);
    this.setState("resting");
  }

  private clear(generation: number): void {
    this.slot.fill(0);
    Atomics.store(this.slot, BoardWord.generation, generation);
  }
}

export interface ThreadSnapshot {
  thread: string;
  state: ThreadState;
  /** From 1; 0 while the thread was never started. */
  generation: number;
  /** ms since the last stamp; Infinity while there is none. */
  ageMs: number;
  loopDelayMaxMicros: number;
  loopDelayMeanMicros: number;
  queueDepth: number;
  op: number;
  /** ms since the operation began; 0 when idle. */
  opAgeMs: number;
  /** ms since the last successful round of the thread's own duty; Infinity while there is none. */
  workAgeMs: number;
  /** From the eviction thread: a bit for each pressure of the node. */
  pressures: number;
}

/** Reads all slots; any thread, any time. */
export class BoardReader {
  private readonly slots: ReadonlyMap<string, Int32Array>;

  constructor(
    private readonly buffers: BoardBuffers,
    private readonly clock: Pick<Clock, "monotonic">,
  ) {
    this.slots = new Map(buffers.threads.map((thread) => [thread, slotOf(buffers, thread)]));
  }

  get threads(): readonly string[] {
    return this.buffers.threads;
  }

  /** ms since the thread's last stamp; Infinity when it never stamped. */
  ageMs(thread: string): number {
    return this.read(thread).ageMs;
  }

  /** All threads, in the order given to createBoard. Words are read one by one: neighbours may be a stamp apart. */
  snapshot(): ThreadSnapshot[] {
    return this.buffers.threads.map((thread) => this.read(thread));
  }

  read(thread: string): ThreadSnapshot {
    const slot = this.slots.get(thread);
    if (slot === undefined) throw unknownThreadError(thread, this.buffers.threads);
    const word = (index: number): number => Atomics.load(slot, index);
    // Stamps are read before the clock: otherwise a stamp made in between would look negative.
    const lastTick = word(BoardWord.lastTick);
    const op = word(BoardWord.op);
    const opSince = word(BoardWord.opSince);
    const lastWork = word(BoardWord.lastWork);
    const now = tick(this.clock);
    return {
      thread,
      state: THREAD_STATES[word(BoardWord.state)] ?? "exited",
      generation: word(BoardWord.generation),
      ageMs: word(BoardWord.stamps) === 0 ? Infinity : Math.max(0, (now - lastTick) | 0),
      loopDelayMaxMicros: word(BoardWord.loopDelayMax),
      loopDelayMeanMicros: word(BoardWord.loopDelayMean),
      queueDepth: word(BoardWord.queueDepth),
      op,
      opAgeMs: op === 0 ? 0 : Math.max(0, (now - opSince) | 0),
      workAgeMs: word(BoardWord.works) === 0 ? Infinity : Math.max(0, (now - lastWork) | 0),
      pressures: word(BoardWord.pressures),
    };
  }
}
