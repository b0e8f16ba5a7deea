// Why a container's log could not be read: one class per cause.

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
export function isLogOptionsError(error: unknown): error is LogOptionsError {
  return error instanceof LogOptionsError;
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
        ? `previous terminated container "${container}" not found: there is no log of an earlier run in ${directory}`
        : `container "${container}" has no log in ${directory}: it has not started, or its log was removed`,
    );
  }
}
export function isLogMissingError(error: unknown): error is LogMissingError {
  return error instanceof LogMissingError;
}

/** The folder changed faster than its files could be opened. */
export class LogFilesChangingError extends Error {
  override readonly name = "LogFilesChangingError";
  constructor(
    readonly directory: string,
    tries: number,
  ) {
    super(`the files in ${directory} changed during each of ${tries} tries to open them; try again`);
  }
}
