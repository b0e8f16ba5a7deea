// How a run of a program failed, for callers that put the program's name before it.

/** "missing": there is no such file; "not run": the kernel refused it; "ended": by itself, but not well. */
export type ProgramFailure = "missing" | "not run" | "slow" | "flood" | "ended";

/** The message goes on after the program's name: "ended with exit status 3: no metadata server". */
export class ProgramFailedError extends Error {
  override readonly name = "ProgramFailedError";
  /** Undefined: it never ended by itself. */
  readonly exitCode: number | undefined;

  constructor(
    readonly failure: ProgramFailure,
    message: string,
    { exitCode, ...options }: ErrorOptions & { exitCode?: number | null } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode ?? undefined;
  }
}

export function isProgramFailedError(error: unknown): error is ProgramFailedError {
  return error instanceof ProgramFailedError;
}
