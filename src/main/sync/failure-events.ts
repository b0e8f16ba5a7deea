// Events of failed steps and passes of a pod worker: one reason per cause, as upstream.
import type { EventReason } from "../../shared/api/event-reasons.js";
import type { Pod } from "../../shared/api/pod.js";
import { isUnavailable } from "../../shared/cri/errors.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { DynamicResourcesError } from "../model/pod-claims.js";
import { isPodCgroupError, isPodDirectoriesError, isStartContainerError } from "../model/step-errors.js";
import { InspectionError } from "./pod-cache.js";
import type { Step, Plan } from "../model/step.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { isUnsupportedVolumeError, isVolumesNotReadyError, isVolumeSetUpError } from "../volumes/errors.js";
import type { RuntimeState } from "../../shared/contracts/pleg.js";

/** Records what belongs to the failed step. An unavailable runtime is no event of the pod. */
export function recordStepFailure(recorder: EventRecorder, pod: Pod | undefined, step: Step, error: unknown): void {
  if (pod === undefined || isUnavailable(error)) return;
  const warn = (reason: EventReason, message: string): void => recorder.pod(pod, { type: "Warning", reason, message });
  const text = messageOf(error);
  if (isPodCgroupError(error)) warn("FailedCreatePodContainer", `unable to ensure pod container exists: ${text}`);
  else if (isPodDirectoriesError(error)) warn("Failed", `error making pod data directories: ${text}`);
  else if (error instanceof DynamicResourcesError) {
    warn("FailedPrepareDynamicResources", `Failed to prepare dynamic resources: ${text}`);
  } else if (step.kind === "kill-container" || step.kind === "stop-sandbox") {
    warn("FailedKillPod", `error killing pod: ${text}`);
  }
}

/** Records an error that ended a pass before its steps. */
export function recordPassFailure(
  recorder: EventRecorder,
  pod: Pod | undefined,
  error: unknown,
  /** The last step created a sandbox. */
  sandboxUnseen: boolean,
): void {
  if (pod === undefined) return;
  const warn = (reason: EventReason, message: string): void => recorder.pod(pod, { type: "Warning", reason, message });
  if (isNetworkNotReadyError(error)) warn("NetworkNotReady", error.message);
  else if (error instanceof InspectionError) {
    if (sandboxUnseen) warn("FailedPodSandBoxStatus", `Unable to get pod sandbox status: ${error.message}`);
    else warn("FailedSync", `error determining status: ${error.message}`);
  }
}

// Failures that the author of the pod causes and repairs: an image that cannot be pulled, a missing config map. Their
// message says everything, and every retry repeats them: the log gets one line of each, without a stack.

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

/** The field `err` of the log line. It has the stack if kubelet, node or runtime may be at fault. */
export function faultField(error: unknown): { err?: unknown } {
  return isUserMade(error) ? {} : { err: error };
}

// Nothing of a pod is started while the runtime's network is not ready: it would come up without an address.

/** Ends when the runtime reports that its network is ready. */
class NetworkNotReadyError extends Error {
  override readonly name = "NetworkNotReadyError";
  constructor(why: string) {
    super(`network is not ready: ${why}`);
  }
}
function isNetworkNotReadyError(error: unknown): error is NetworkNotReadyError {
  return error instanceof NetworkNotReadyError;
}

/** If a runtime does not respond at all, the calls themselves fail. @throws NetworkNotReadyError */
export function requireNetwork(pod: Pod, plan: Plan, runtime: RuntimeState | undefined): void {
  if (pod.spec.hostNetwork === true || runtime === undefined || !runtime.reachable || runtime.networkReady) return;
  const starts = plan.steps.some(({ kind }) => kind === "create-sandbox" || kind === "start-container");
  if (starts) throw new NetworkNotReadyError(runtime.message);
}
