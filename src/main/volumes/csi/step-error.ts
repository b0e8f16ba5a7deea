// Which step of setting a volume up failed, in the words that users of other kubelets search for.
import { isPluginCallError, statusName } from "../../../shared/plugins/call-error.js";
import { messageOf } from "../../../shared/errors/thrown.js";

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
export const isCsiStep = (error: unknown): error is CsiStepError => error instanceof CsiStepError;

/** What fails in `work` failed in that step; an ended signal stays what it is. */
export async function inStep<T>(step: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw isCsiStep(error) ? error : new CsiStepError(step, error);
  }
}

/** What a driver said, as Go's gRPC prints it. */
export function problemText(error: unknown): string {
  if (isPluginCallError(error)) return `rpc error: code = ${statusName(error.code)} desc = ${error.details}`;
  return messageOf(error);
}
