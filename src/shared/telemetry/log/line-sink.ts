// Output of a thread's log lines: its ring to the log thread, or standard error without a log thread.
// Invariant: writing never blocks and never throws. A line without room in the ring is dropped and counted. The next
// line with room is preceded by one with the number of lost lines.

import { destination } from "pino";
import type { Clock } from "../../base/clock/clock.js";
import { OperatorError } from "../../base/errors/operator-error.js";
import { RingProducer, type RingBuffers } from "../../base/queue/ring.js";
import { RECORD_INFO, RECORD_SEVERE } from "./line-record.js";

export interface LineSink {
  /** `severe`: a warning or worse. `line` ends in a line feed. */
  write(line: string, severe: boolean): void;
  /** Calls back once all bytes written so far have left the process; with an error if the deadline passes first. */
  flush(done: (error?: Error) => void): void;
  /** Before the thread exits. */
  flushSync(): void;
}

/** A write did not finish within the deadline: the reader of standard output or error does not read. */
export function logBlockedError(deadlineMs: number): OperatorError {
  return new OperatorError(
    `log lines were not written within ${deadlineMs} ms: is the reader of standard error stuck?`,
  );
}

/** Deadline of a flush that names none, ms. */
export const FLUSH_DEADLINE_MS = 2000;
const LOOK_MS = 5;
const SCRATCH_BYTES = 16 * 1024;
/** UTF-8 takes at most three bytes per UTF-16 unit. */
const BYTES_PER_UNIT = 3;

export class RingSink implements LineSink {
  private readonly producer: RingProducer;
  private readonly scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  private lost = 0;

  constructor(
    ring: RingBuffers,
    private readonly clock: Clock,
    /** The line that reports the number of lost lines. */
    private readonly lostLine: (lines: number) => string,
  ) {
    this.producer = new RingProducer(ring);
  }

  write(line: string, severe: boolean): void {
    if (this.lost > 0) {
      if (!this.push(this.lostLine(this.lost), true)) {
        this.drop();
        return;
      }
      this.lost = 0;
    }
    if (!this.push(line, severe)) this.drop();
  }

  flush(done: (error?: Error) => void): void {
    const end = this.clock.monotonic() + FLUSH_DEADLINE_MS;
    const look = (): void => {
      if (this.producer.usedBytes === 0) done();
      else if (this.clock.monotonic() >= end) done(logBlockedError(FLUSH_DEADLINE_MS));
      else this.clock.after(LOOK_MS, look);
    };
    look();
  }

  /** The lines are in shared memory already and outlive this thread. */
  flushSync(): void {
    return;
  }

  private drop(): void {
    this.lost++;
    this.producer.countDropped(1);
  }

  /** @returns false when there is no room, or never will be. */
  private push(line: string, severe: boolean): boolean {
    const fits = 1 + line.length * BYTES_PER_UNIT <= SCRATCH_BYTES;
    const record = fits ? this.scratch : Buffer.allocUnsafe(1 + line.length * BYTES_PER_UNIT);
    record[0] = severe ? RECORD_SEVERE : RECORD_INFO;
    const length = 1 + record.write(line, 1);
    if (length > this.producer.maxRecordBytes) return false;
    try {
      return this.producer.tryPush(record.subarray(0, length), severe);
    } catch {
      // The ring was closed as damaged; the count of dropped lines shows it.
      return false;
    }
  }
}

/** Standard error without the log thread, asynchronously: for tests, and threads started by hand. */
export class StderrSink implements LineSink {
  private readonly stream = destination({ fd: 2, sync: false });

  write(line: string): void {
    this.stream.write(line);
  }

  flush(done: (error?: Error) => void): void {
    this.stream.flush((error) => done(error ?? undefined));
  }

  flushSync(): void {
    this.stream.flushSync();
  }
}
