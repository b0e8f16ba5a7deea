// Errors of a pod's steps: of starting, configuring and resizing a container, and of the pod's own directories and cgroup.
import { messageOf } from "../../shared/errors/thrown.js";

export class StartContainerError extends Error {
  override readonly name = "StartContainerError";
  constructor(
    /** e.g. "ErrImagePull", "CreateContainerError", "RunContainerError". */
    readonly reason: string,
    message: string,
    /** Time of the next attempt, by the steady clock; absent: the pod worker's own back-off. */
    readonly retryAt?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function isStartContainerError(error: unknown): error is StartContainerError {
  return error instanceof StartContainerError;
}

// A resize that the runtime or the kernel rejects: reported in the pod's condition PodResizeInProgress and retried
// later.

export class ResizeError extends Error {
  override readonly name = "ResizeError";
}
export const isResizeError = (error: unknown): error is ResizeError => error instanceof ResizeError;

// Errors that keep a pod's environment from being set up: one class per cause, because each has its own event.

/** The pod's cgroup can't be made. */
export class PodCgroupError extends Error {
  override readonly name = "PodCgroupError";
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}
export function isPodCgroupError(error: unknown): error is PodCgroupError {
  return error instanceof PodCgroupError;
}

/** The pod's directories can't be made. */
export class PodDirectoriesError extends Error {
  override readonly name = "PodDirectoriesError";
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}
export function isPodDirectoriesError(error: unknown): error is PodDirectoriesError {
  return error instanceof PodDirectoriesError;
}

// A container's configuration cannot be made from its spec. The container shows waiting reason CreateContainerConfigError. The next sync
// tries again, because the missing piece (a key, an image user) may come.

export class CreateContainerConfigError extends Error {
  readonly reason = "CreateContainerConfigError";
  constructor(message: string) {
    super(message);
    this.name = "CreateContainerConfigError";
  }
}

export function isCreateContainerConfigError(error: unknown): error is CreateContainerConfigError {
  return error instanceof CreateContainerConfigError;
}
