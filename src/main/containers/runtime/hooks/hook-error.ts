// A lifecycle hook that failed by itself. An aborted hook is no failure: it rejects with the signal's reason.

export class HookError extends Error {
  override readonly name = "HookError";
}
