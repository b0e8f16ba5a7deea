// Errors of a pod's steps: of starting, configuring and resizing a container, and of the pod's own directories and
// cgroup.

import type { SteadyTime } from "../../shared/base/clock/moments.js";

export class StartContainerError extends Error {
  override readonly name = "StartContainerError";
  constructor(
    /** e.g. "ErrImagePull", "CreateContainerError", "RunContainerError". */
    readonly reason: string,
    message: string,
    /** Time of the next attempt, by the steady clock; absent: the pod worker's own back-off. */
    readonly retryAt?: SteadyTime,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
