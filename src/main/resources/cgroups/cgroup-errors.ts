// Errors of cgroups, one class per cause.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";

/** The kubelet may not make cgroups here. */
export function cgroupsNotWritableError(directory: string, cause: unknown): OperatorError {
  return new OperatorError(
    `cannot make cgroup ${directory}: ${messageOf(cause)}; run as root with /sys/fs/cgroup mounted read-write`,
    {
      cause,
    },
  );
}

/** The kernel refused a value. */
export class CgroupWriteError extends OperatorError {
  override readonly name = "CgroupWriteError";
  constructor(path: string, value: string, cause: unknown) {
    super(`writing ${JSON.stringify(value)} to ${path}: ${messageOf(cause)}`, { cause });
  }
}

/** A cgroup still has processes or children after all tries; trying again later is the caller's part. */
export function cgroupBusyError(cgroup: string, tries: number, cause: unknown): OperatorError {
  return new OperatorError(`cgroup ${cgroup} is still busy after ${tries} tries to remove it: ${messageOf(cause)}`, {
    cause,
  });
}

/** A cgroup that the configuration names is not there. */
export function cgroupMissingError(cgroup: string, missing: readonly string[]): OperatorError {
  return new OperatorError(
    `cgroup ${JSON.stringify(cgroup)} has some missing paths: ${missing.join(", ")}; create it before the kubelet starts`,
  );
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
