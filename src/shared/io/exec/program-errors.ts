// Errors of running a program, for callers that put the program's name before them.

/** "missing": there is no such file; "not run": the kernel refused it; "ended": it exited with an error. */
export type ProgramFailure = "missing" | "not run" | "slow" | "flood" | "ended";

/** The message continues the program's name: "failed with exit status 3: no metadata server". */
export class ProgramFailedError extends Error {
  override readonly name = "ProgramFailedError";
  /** Undefined: it never ended by itself. */
  readonly exitCode: number | undefined;
  /** Standard output of a program that ended by itself; it may be secret and is in no message. */
  readonly stdout: string;

  constructor(
    readonly failure: ProgramFailure,
    message: string,
    { exitCode, stdout = "", ...options }: ErrorOptions & { exitCode?: number | null; stdout?: string } = {},
  ) {
    super(message, options);
    this.exitCode = exitCode ?? undefined;
    this.stdout = stdout;
  }
}
