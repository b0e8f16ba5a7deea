// Errors that keep a pod's environment from being set up: one class per cause, because each has its own event.

import { messageOf } from "../../shared/base/errors/thrown.js";

/** The pod's cgroup can't be made. */
export class PodCgroupError extends Error {
  override readonly name = "PodCgroupError";
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}

/** The pod's directories can't be made. */
export class PodDirectoriesError extends Error {
  override readonly name = "PodDirectoriesError";
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
  }
}
