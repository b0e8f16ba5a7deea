// A lifecycle hook that failed by itself. A hook that was given up is no failure of its own: that is the signal's reason.

export class HookError extends Error {
  override readonly name = "HookError";
}

export function isHookError(error: unknown): error is HookError {
  return error instanceof HookError;
}
