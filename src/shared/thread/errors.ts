// Errors across threads: {code, name, message, stack} there and back. Structured clone loses name and code of our
// classes. A rebuilt error is recognised by its name; instanceof of its first class does not survive.

import type { SerializedError } from "../contracts/thread.js";

/** Anything thrown, as a message can carry it. */
export function serializeError(thrown: unknown): SerializedError {
  if (!(thrown instanceof Error)) return { code: "", name: "Error", message: String(thrown), stack: "" };
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  return { code, name: thrown.name, message: thrown.message, stack: thrown.stack ?? "" };
}

/** An error that was thrown in another thread; name, message, code and stack are those of the original. */
export class RemoteError extends Error {
  readonly code: string;
  constructor(from: SerializedError) {
    super(from.message);
    this.name = from.name;
    this.code = from.code;
    if (from.stack !== "") this.stack = from.stack;
  }
}

export function rebuildError(from: SerializedError): RemoteError {
  return new RemoteError(from);
}

/** A call to a thread that has exited, exits, or has not started yet. */
export class ThreadExitedError extends Error {
  override readonly name = "ThreadExitedError";
  constructor(
    readonly thread: string,
    readonly method: string,
    readonly reason: string,
  ) {
    super(`call ${method} to thread ${thread} failed: ${reason}; try again once the thread is running`);
  }
}

/** A call that got no response within its deadline. The other thread may still carry it out. */
export class ThreadCallTimeoutError extends Error {
  override readonly name = "ThreadCallTimeoutError";
  constructor(
    readonly thread: string,
    readonly method: string,
    readonly deadlineMs: number,
  ) {
    super(`call ${method} to thread ${thread} got no response within ${deadlineMs} ms`);
  }
}
