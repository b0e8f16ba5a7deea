// Errors of persistent volumes; each becomes an event of the pod.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import { AttachLimitError } from "../csi/errors.js";
import { CsiStepError } from "../csi/step-error.js";
import { VolumeRefusedError, VolumeSetUpError, VolumeStepError, type StepEvent } from "../errors.js";
import type { SetUpRequest } from "../plugin.js";
import { notReady } from "../world/wait-for-volumes.js";
import { ClaimError } from "./claim.js";

/**
 * Runs `work` and turns its failures into volume errors with upstream's event text: the failed step and the volume
 * name.
 */
export async function asVolumeErrors<T>(
  { pod, volume, signal }: SetUpRequest,
  work: (named: (name: string) => void) => Promise<T>,
): Promise<T> {
  let { name } = volume;
  try {
    return await work((known) => (name = known));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof VolumeSetUpError) throw error;
    if (error instanceof ClaimError) {
      const { message } = notReady([volume.name], [volume.name], error.message, error);
      throw new VolumeStepError(pod, volume.name, error.message, { reason: "FailedMount", message }, { cause: error });
    }
    if (error instanceof CsiStepError && error.cause instanceof AttachLimitError) {
      const reason = "VolumeAttachmentLimitExceeded";
      throw new VolumeRefusedError(pod, volume.name, reason, error.message, { cause: error });
    }
    const problem = messageOf(error);
    throw stepError(
      pod,
      volume,
      error instanceof CsiStepError ? error.step : "MountVolume.SetUp",
      name,
      problem,
      error,
    );
  }
}

export function stepError(
  pod: Pod,
  volume: Volume,
  step: string,
  name: string,
  problem: string,
  cause?: unknown,
): VolumeStepError {
  const reason = reasonOf(step);
  const message = `${step} failed for volume ${quote(name)} : ${problem}`;
  return new VolumeStepError(pod, volume.name, problem, { reason, message }, { cause });
}

function reasonOf(step: string): StepEvent["reason"] {
  if (step.startsWith("AttachVolume")) return "FailedAttachVolume";
  return step.startsWith("MapVolume") ? "FailedMapVolume" : "FailedMount";
}
