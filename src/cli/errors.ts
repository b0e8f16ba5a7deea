// The errors that end the nodelet command, with the exit code of each. docs/nodelet.md lists the codes for scripts.

export const EXIT = { fine: 0, wrong: 1, usage: 2, noKubelet: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The message names the problem; `remedy` says what to do. */
export class CliError extends Error {
  override readonly name = "CliError";
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly remedy?: string,
  ) {
    super(message);
  }
}

/** This node has no pod of that name. */
export class NoPodError extends CliError {
  constructor(message: string, remedy: string) {
    super(EXIT.wrong, message, remedy);
  }
}
