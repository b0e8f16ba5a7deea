// Why a container's log could not be read: one class per cause.

import { quote } from "../../../../shared/base/text/quote.js";
import { quoteBytes } from "../../../../shared/io/http/bytes.js";

/** The options contradict each other or are out of range; the caller's fault. */
export class LogOptionsError extends Error {
  override readonly name = "LogOptionsError";
  constructor(
    readonly field: string,
    problem: string,
  ) {
    super(`log options: ${field} ${problem}`);
  }
}

/** No file of that run is there: it never ran here, or its log was removed. */
export class LogMissingError extends Error {
  override readonly name = "LogMissingError";
  constructor(
    readonly container: string,
    readonly directory: string,
    previous: boolean,
  ) {
    super(
      previous
        ? `previous terminated container ${quote(container)} not found: there is no log of an earlier run in ${directory}`
        : `container ${quote(container)} has no log in ${directory}: it has not started, or its log was removed`,
    );
  }
}

/** Bytes of a foreign line that the error shows. */
export const SHOWN_BYTES = 16 * 1024;

/** The first line is in no format of container logs; upstream's text. */
export class LogFormatError extends Error {
  override readonly name = "LogFormatError";
  constructor(line: Buffer) {
    const shown = quoteBytes(line.toString("latin1", 0, SHOWN_BYTES), SHOWN_BYTES);
    super(`failed to get parse function: unsupported log format: ${shown}`);
  }
}

/** A record of Docker's log is of a stream that is neither stdout nor stderr; upstream's text. */
export class LogStreamError extends Error {
  override readonly name = "LogStreamError";
  constructor(stream: string) {
    super(`unexpected stream type ${quoteBytes(Buffer.from(stream).toString("latin1"), SHOWN_BYTES)}`);
  }
}

/** The content of the file is to blame, and what was read before it is output. */
export function isForeignLog(error: unknown): error is LogFormatError | LogStreamError {
  return error instanceof LogFormatError || error instanceof LogStreamError;
}
