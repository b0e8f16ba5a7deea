// What can go wrong with a ring or a queue: one class per cause, each with its guard.

/** The ring holds bytes that no producer of ours writes: it cannot be read any further, only replaced. */
export class RingCorruptError extends Error {
  readonly code = "ERR_RING_CORRUPT";
  constructor(detail: string) {
    super(`ring queue is corrupt: ${detail}; it must be replaced with a fresh ring`);
    this.name = "RingCorruptError";
  }
}

export function isRingCorruptError(error: unknown): error is RingCorruptError {
  return error instanceof RingCorruptError;
}

/** Push after close, by either side. */
export class RingClosedError extends Error {
  readonly code = "ERR_RING_CLOSED";
  constructor(side: "producer" | "consumer") {
    super(`ring queue is closed by its ${side}: no more records can be pushed`);
    this.name = "RingClosedError";
  }
}

export function isRingClosedError(error: unknown): error is RingClosedError {
  return error instanceof RingClosedError;
}

/** A record that would not fit even into the empty ring. */
export class RecordTooLargeError extends Error {
  readonly code = "ERR_RECORD_TOO_LARGE";
  constructor(
    readonly bytes: number,
    readonly maxBytes: number,
  ) {
    super(`record of ${bytes} bytes does not fit into the ring queue: at most ${maxBytes} bytes; give it a larger capacity`);
    this.name = "RecordTooLargeError";
  }
}

export function isRecordTooLargeError(error: unknown): error is RecordTooLargeError {
  return error instanceof RecordTooLargeError;
}

/** Ring full and the writer's own pending list at its limit: the value was not taken, and was counted as dropped. */
export class QueueFullError extends Error {
  readonly code = "ERR_QUEUE_FULL";
  constructor(
    readonly queue: string,
    readonly limit: number,
  ) {
    super(`queue ${queue} is full: the ring has no space and ${limit} values are pending; its consumer is slow or stuck`);
    this.name = "QueueFullError";
  }
}

export function isQueueFullError(error: unknown): error is QueueFullError {
  return error instanceof QueueFullError;
}

/** Bytes that a codec cannot make sense of. */
export class DecodeError extends Error {
  readonly code = "ERR_DECODE";
  constructor(detail: string) {
    super(`record cannot be decoded: ${detail}`);
    this.name = "DecodeError";
  }
}

export function isDecodeError(error: unknown): error is DecodeError {
  return error instanceof DecodeError;
}
