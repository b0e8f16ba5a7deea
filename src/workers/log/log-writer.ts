// Moves lines from the threads' rings to standard error and output.
// Invariant: a record leaves its ring when its line is written, in the info buffer, or counted as lost. Lines of one
// thread keep their order. Bytes of two lines never mix. When the reader does not read, lines wait in the rings.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { Doorbell } from "../../shared/base/queue/doorbell.js";
import { RingWord } from "../../shared/base/queue/layout.js";
import { LogWords } from "../../shared/base/queue/log-words.js";
import { RecentLines } from "../../shared/base/queue/recent-lines.js";
import { RingConsumer, type RingBuffers } from "../../shared/base/queue/ring.js";
import type { LogInit } from "../../shared/contracts/log.js";
import { RECORD_INFO } from "../../shared/telemetry/log/line-record.js";
import type { LogOutput } from "../../shared/telemetry/log/open-output.js";

export interface LogWriterOptions extends Omit<LogInit, "rings" | "outFd" | "errFd"> {
  out: LogOutput;
  err: LogOutput;
  clock: Clock;
}

interface Source {
  consumer: RingConsumer;
  doorbell: Doorbell;
}

/** Bytes on their way to one output. */
interface Part {
  output: LogOutput;
  bytes: Uint8Array;
  at: number;
}

/** A batch that is being written; its records leave the ring at its end. */
interface Batch {
  source: Source | undefined;
  parts: Part[];
  lines: number;
}

/** Interval between two tries to write to a full output, ms. */
const RETRY_MIN_MS = 1;
const RETRY_MAX_MS = 50;
/**
 * After a write, the next lines wait this long and are written together. A wake-up for each would cost more than the
 * write.
 */
const REST_MS = 15;
/** Batches per turn of the event loop; after that the thread handles its messages. */
const BATCHES_PER_TURN = 32;

export class LogWriter {
  private readonly words: LogWords;
  private readonly recent: RecentLines;
  private readonly sources: Source[] = [];
  private batch: Batch | undefined;
  private infos: Uint8Array[] = [];
  private infoBytes = 0;
  private infoTimer: Timer | undefined;
  private retry: Timer | undefined;
  private retryMs = RETRY_MIN_MS;
  /** Lines were written since the last rest began. */
  private wrote = false;
  private resting: Timer | undefined;

  constructor(private readonly options: LogWriterOptions) {
    this.words = new LogWords(options.words);
    this.recent = new RecentLines(options.recent);
  }

  addRing(ring: RingBuffers): void {
    const consumer = new RingConsumer(ring);
    const { dataWanted, tail, producerClosed } = RingWord;
    const wake = (): void => this.pump();
    const doorbell = new Doorbell(consumer.header, dataWanted, tail, producerClosed, this.options.clock, wake);
    this.sources.push({ consumer, doorbell });
    this.pump();
  }

  /** Writes the waiting lines, as far as the outputs accept them; continues when they accept more. */
  pump(): void {
    if (this.retry !== undefined) return;
    for (let turn = 0; turn < BATCHES_PER_TURN; turn++) {
      if (this.batch !== undefined && !this.writeBatch(this.batch)) {
        this.later(this.retryMs);
        this.retryMs = Math.min(RETRY_MAX_MS, this.retryMs * 2);
        return;
      }
      this.retryMs = RETRY_MIN_MS;
      if (!this.nextBatch() && this.rest()) return;
    }
    this.later(0);
  }

  private later(ms: number): void {
    this.retry = this.options.clock.after(ms, () => {
      this.retry = undefined;
      this.pump();
    });
  }

  /** No line waits: confirms main's flush, then rests or sleeps. @returns false if there is more after all. */
  private rest(): boolean {
    const asked = this.words.flushAsked;
    if (!this.words.isFlushed(asked)) {
      if (this.infoBytes > 0) {
        this.batch = { source: undefined, parts: this.takeInfos(), lines: 0 };
        return false;
      }
      this.words.flushDone(asked);
    }
    const rests = this.wrote || this.resting !== undefined;
    if (this.wrote) {
      this.wrote = false;
      this.resting ??= this.options.clock.after(REST_MS, () => {
        this.resting = undefined;
        this.pump();
      });
    }
    // Every doorbell has to be set, so no short cut.
    const asleep = this.sources.map(({ doorbell, consumer }) =>
      rests ? doorbell.rest(consumer.position) : doorbell.sleep(consumer.position),
    );
    return asleep.every((isAsleep) => isAsleep);
  }

  /** Takes up one batch of the next ring that has one; @returns false when none has. */
  private nextBatch(): boolean {
    for (const source of this.sources) {
      const records = this.peek(source);
      if (records.length === 0) continue;
      // The next turn begins with the ring behind this one.
      this.sources.push(...this.sources.splice(0, this.sources.indexOf(source) + 1));
      this.batch = { source, parts: this.partsOf(records), lines: records.length };
      return true;
    }
    return false;
  }

  /** A damaged ring is abandoned; its producer counts its lines as lost from then on. */
  private peek(source: Source): Uint8Array[] {
    try {
      return source.consumer.peek();
    } catch {
      source.doorbell.close();
      this.sources.splice(this.sources.indexOf(source), 1);
      return [];
    }
  }

  private partsOf(records: readonly Uint8Array[]): Part[] {
    const { err, splitStream, infoBufferBytes } = this.options;
    const lines = records.map((record) => record.subarray(1));
    // Before they are written: when the reader of the log hangs, these lines name the fault.
    for (const line of lines) this.recent.append(line);
    if (!splitStream) return [part(err, lines)];
    const severe = lines.filter((_line, index) => records[index]?.[0] !== RECORD_INFO);
    const infos = lines.filter((_line, index) => records[index]?.[0] === RECORD_INFO);
    for (const line of infos) this.infoBytes += line.length;
    this.infos.push(...infos);
    const parts = severe.length > 0 || this.infoBytes >= infoBufferBytes ? this.takeInfos() : [];
    if (this.infoBytes > 0) this.infoTimer ??= this.flushLater();
    return severe.length > 0 ? [part(err, severe), ...parts] : parts;
  }

  private takeInfos(): Part[] {
    const infos = this.infos;
    this.infos = [];
    this.infoBytes = 0;
    this.infoTimer?.cancel();
    this.infoTimer = undefined;
    return infos.length === 0 ? [] : [part(this.options.out, infos)];
  }

  private flushLater(): Timer {
    return this.options.clock.after(this.options.flushFrequencyMs, () => {
      this.infoTimer = undefined;
      if (this.batch === undefined) this.batch = { source: undefined, parts: this.takeInfos(), lines: 0 };
      else this.batch.parts.push(...this.takeInfos());
      this.pump();
    });
  }

  /** @returns false when an output has no room; the rest of the batch is written later. */
  private writeBatch(batch: Batch): boolean {
    for (const unfinished of batch.parts) {
      try {
        while (unfinished.at < unfinished.bytes.length) {
          const written = unfinished.output.write(unfinished.bytes.subarray(unfinished.at));
          if (written === 0) return false;
          unfinished.at += written;
        }
      } catch {
        // The reader closed or the disk is full: no message is possible, so the line is counted.
        unfinished.at = unfinished.bytes.length;
        batch.source?.consumer.countDropped(batch.lines);
      }
    }
    batch.source?.consumer.takePeeked();
    this.batch = undefined;
    this.wrote = true;
    return true;
  }
}

function part(output: LogOutput, lines: readonly Uint8Array[]): Part {
  const bytes = new Uint8Array(lines.reduce((sum, line) => sum + line.length, 0));
  let at = 0;
  for (const line of lines) {
    bytes.set(line, at);
    at += line.length;
  }
  return { output, bytes, at: 0 };
}
