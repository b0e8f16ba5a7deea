// The error for the command line and the config file: all problems in one report.

export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly code = "SETTINGS";

  /** One line per problem: its place, the problem, and the accepted values. */
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

export function isSettingsError(error: unknown): error is SettingsError {
  return error instanceof SettingsError;
}
