// Reads what a worker pushes into its ring. A ring that is corrupt ends the thread: its next start brings a fresh one.
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import type { Codec } from "../../shared/queue/codec.js";
import { RingCorruptError } from "../../shared/queue/errors.js";
import { QueueReader } from "../../shared/queue/queue-reader.js";
import { RingConsumer } from "../../shared/queue/ring.js";
import type { SupervisedThread } from "../threads/supervisor.js";

export interface RecordReading<T> {
  codec: Codec<T>;
  onRecord: (record: T) => void;
  /** What the log says of a record that can't be read. */
  unreadable: string;
  clock: Clock;
  log: Logger;
}

/** Reads from now on, until it is stopped. */
export function readRecords<T>(
  thread: Pick<SupervisedThread<object>, "outbox" | "terminate">,
  { codec, onRecord, unreadable, clock, log }: RecordReading<T>,
): QueueReader<T> {
  const reader = new QueueReader(
    new RingConsumer(thread.outbox),
    codec,
    onRecord,
    (error) => {
      log.error({ err: error }, unreadable);
      if (error instanceof RingCorruptError) void thread.terminate();
    },
    { clock },
  );
  reader.start();
  return reader;
}
