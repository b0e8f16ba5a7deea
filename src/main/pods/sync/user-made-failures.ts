// Failures that the author of the pod causes and repairs: an image that cannot be pulled, a missing config map. Their
// message says everything, and every retry repeats them: the log gets one line of each, without a stack.

import { DynamicResourcesError } from "../../model/pod-claims.js";
import { StartContainerError } from "../../model/step-errors.js";
import { VolumesNotReadyError, VolumeSetUpError, UnsupportedVolumeError } from "../../volumes/errors.js";

const REASONS: ReadonlySet<string> = new Set([
  "CreateContainerConfigError",
  "ErrImageNeverPull",
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
]);

function isUserMade(error: unknown): boolean {
  if (error instanceof StartContainerError) return REASONS.has(error.reason);
  if (error instanceof DynamicResourcesError) return true;
  return (
    error instanceof VolumesNotReadyError ||
    error instanceof VolumeSetUpError ||
    error instanceof UnsupportedVolumeError
  );
}

/** The field `err` of the log line. It has the stack if kubelet, node or runtime may be at fault. */
export function faultField(error: unknown): { err?: unknown } {
  return isUserMade(error) ? {} : { err: error };
}
