// Reads the records that a worker pushes into its ring.
// Invariant: a record that was not handled ends its thread, because no other record repeats it; the next start has a
// fresh ring and reports everything again.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Codec } from "../../shared/base/queue/codec.js";
import { QueueReader } from "../../shared/base/queue/queue-reader.js";
import { RingConsumer } from "../../shared/base/queue/ring.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { SupervisedThread } from "./supervisor.js";

export interface RecordReading<T> {
  codec: Codec<T>;
  onRecord: (record: T) => void;
  /** The log message for a record that can't be read or handled. */
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
      void thread.terminate();
    },
    { clock },
  );
  reader.start();
  return reader;
}
