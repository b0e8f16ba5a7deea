// The failed step of setting a volume up, in upstream's texts, which users search for.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { PluginCallError, statusName } from "../../../shared/kubernetes/plugins/call-error.js";

export class CsiStepError extends Error {
  override readonly name = "CsiStepError";
  constructor(
    /** "MountVolume.MountDevice", … */
    readonly step: string,
    cause: unknown,
  ) {
    super(problemText(cause), { cause });
  }
}

/** An error of `work` becomes an error of the step; an aborted signal keeps its reason. */
export async function inStep<T>(step: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof CsiStepError ? error : new CsiStepError(step, error);
  }
}

/** A driver's error as Go's gRPC prints it. */
export function problemText(error: unknown): string {
  if (error instanceof PluginCallError) return `rpc error: code = ${statusName(error.code)} desc = ${error.details}`;
  return messageOf(error);
}
