// Events of what keeps a pod's worker from its aim: one word per cause, as upstream has them.
import type { Pod } from "../../shared/api/pod.js";
import { isUnavailable } from "../../shared/cri/errors.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { DynamicResourcesError } from "../model/pod-claims.js";
import { isPodCgroupError, isPodDirectoriesError } from "../model/pod-environment-error.js";
import { isNetworkNotReadyError } from "./network-not-ready.js";
import { InspectionError } from "./pod-cache.js";
import type { Step } from "../model/step.js";
import { messageOf } from "../../shared/errors/thrown.js";

/** Records what belongs to the failed step. The runtime's absence is the node's affair, not the pod's. */
export function recordStepFailure(recorder: EventRecorder, pod: Pod | undefined, step: Step, error: unknown): void {
  if (pod === undefined || isUnavailable(error)) return;
  const warn = (reason: string, message: string): void => recorder.pod(pod, { type: "Warning", reason, message });
  const text = messageOf(error);
  if (isPodCgroupError(error)) warn("FailedCreatePodContainer", `unable to ensure pod container exists: ${text}`);
  else if (isPodDirectoriesError(error)) warn("Failed", `error making pod data directories: ${text}`);
  else if (error instanceof DynamicResourcesError) {
    warn("FailedPrepareDynamicResources", `Failed to prepare dynamic resources: ${text}`);
  } else if (step.kind === "kill-container" || step.kind === "stop-sandbox") {
    warn("FailedKillPod", `error killing pod: ${text}`);
  }
}

/** Records what kept a whole pass from its steps. */
export function recordPassFailure(recorder: EventRecorder, pod: Pod | undefined, error: unknown): void {
  if (pod === undefined) return;
  const warn = (reason: string, message: string): void => recorder.pod(pod, { type: "Warning", reason, message });
  if (isNetworkNotReadyError(error)) warn("NetworkNotReady", error.message);
  else if (error instanceof InspectionError) warn("FailedSync", `error determining status: ${error.message}`);
}
