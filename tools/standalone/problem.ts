// Set-up fails for reasons a user can act on (not root, no apt, port taken).
// Invariant: a SetupProblem is one line, says what was tried and what to do; its stack is never shown.

/** A reason why the set-up cannot go on, as one clear line for the user. */
export class SetupProblem extends Error {
  override readonly name = "SetupProblem";
}

/** True for errors whose message is meant for the user as it stands. */
export function isSetupProblem(error: unknown): error is SetupProblem {
  return error instanceof SetupProblem;
}

/** The text of anything thrown, for messages. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno name (`ENOENT`, `EBUSY` …) of a failed system call, if it was one. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
