// Errors of dynamic configuration, one class per cause.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";

/** The folder of --dynamic-config-dir cannot be used. */
export function dynamicConfigDirError(path: string, cause: unknown): OperatorError {
  return new OperatorError(
    `--dynamic-config-dir: ${path} cannot be made or used: ${messageOf(cause)}; choose a folder the kubelet may write to`,
    { cause },
  );
}

/** The source could not deliver the assigned configuration. It may in a moment: editors replace files in steps. */
export class SourceReadError extends Error {
  override readonly name = "SourceReadError";
  readonly code = "CONFIG_SOURCE_READ";
  constructor(
    readonly path: string,
    why: string,
    cause?: unknown,
  ) {
    super(`the configuration at ${path} cannot be read: ${why}`, { cause });
  }
}

/** The content of a checkpoint differs from its hash. */
export class CheckpointGarbageError extends Error {
  override readonly name = "CheckpointGarbageError";
  readonly code = "CHECKPOINT_GARBAGE";
  constructor(
    readonly path: string,
    why: string,
  ) {
    super(`the checkpoint ${path} is not whole: ${why}`);
  }
}
