// Failures that the author of the pod causes and mends: an image that can't be had, a config map that is not there. Their
// message is all there is to know, and they come again with every retry: the log gets one line of each, without a stack.
import { DynamicResourcesError } from "../model/dynamic-resources.js";
import { isStartContainerError } from "../model/start-container-error.js";
import { isUnsupportedVolumeError, isVolumesNotReadyError, isVolumeSetUpError } from "../volumes/errors.js";

const REASONS: ReadonlySet<string> = new Set([
  "CreateContainerConfigError",
  "ErrImageNeverPull",
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
]);

function isUserMade(error: unknown): boolean {
  if (isStartContainerError(error)) return REASONS.has(error.reason);
  if (error instanceof DynamicResourcesError) return true;
  return isVolumesNotReadyError(error) || isVolumeSetUpError(error) || isUnsupportedVolumeError(error);
}

/** The field `err` of the log line: its stack is wanted where the agent, the node or the runtime may be at fault. */
export function faultField(error: unknown): { err?: unknown } {
  return isUserMade(error) ? {} : { err: error };
}
