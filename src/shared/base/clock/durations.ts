// Durations from pods, clients and configuration: their bounds, and their text in messages.
// Invariant: no number from outside becomes a timer or gRPC deadline that Node, grpc-js or the runtime can't represent.
// grpc-js throws for a deadline over 1e8 hours where no caller can catch it; Go's durations end after 292 years and
// turn negative beyond.

/** 100 years: longer than any node runs. */
export const LONGEST_SECONDS = 100 * 365 * 86_400;
const LONGEST_MS = LONGEST_SECONDS * 1000;

/** A timer or deadline was requested with a value that is not a duration. */
export class InvalidDurationError extends RangeError {
  override readonly name = "InvalidDurationError";
  constructor(what: string, value: number) {
    super(`${what} must be a number of milliseconds that is 0 or more, not ${value}`);
  }
}

/**
 * The deadline of a gRPC call that may take `ms`, at most 100 years from now.
 * @throws InvalidDurationError for NaN and for negative values
 */
export function deadlineIn(ms: number, clock: { now(): number }): Date {
  if (!(ms >= 0)) throw new InvalidDurationError("a call's deadline", ms);
  return new Date(clock.now() + Math.min(ms, LONGEST_MS));
}

/**
 * A grace period as whole seconds from `least` to 100 years.
 * `fallback` replaces a value that is no number: annotations and API objects can hold anything.
 */
export function boundedSeconds(seconds: number, { least, fallback }: { least: number; fallback: number }): number {
  const given = Number.isNaN(seconds) ? fallback : seconds;
  return Math.min(Math.max(Math.ceil(given), least), LONGEST_SECONDS);
}
