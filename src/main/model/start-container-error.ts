// A container that could not be started, with the waiting reason that its pod's status shows.

export class StartContainerError extends Error {
  override readonly name = "StartContainerError";
  constructor(
    /** e.g. "ErrImagePull", "CreateContainerError", "RunContainerError". */
    readonly reason: string,
    message: string,
    /** When to try again, by the steady clock; the pod worker's own back-off when absent. */
    readonly retryAt?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function isStartContainerError(error: unknown): error is StartContainerError {
  return error instanceof StartContainerError;
}
