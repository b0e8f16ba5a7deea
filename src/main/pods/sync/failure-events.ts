// Events of failed steps and passes of a pod worker: one reason per cause, as upstream.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import { PodCgroupError, PodDirectoriesError } from "../../model/environment-errors.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { DynamicResourcesError } from "../../model/pod-claims.js";
import type { Step } from "../../model/step.js";
import { InspectionError } from "./pod-cache.js";
import { NetworkNotReadyError } from "./require-network.js";

/** Records what belongs to the failed step. An unavailable runtime is no event of the pod. */
export function recordStepFailure(recorder: EventRecorder, pod: Pod | undefined, step: Step, error: unknown): void {
  if (pod === undefined || error instanceof CriUnavailableError) return;
  const warn = (reason: EventReason, message: string): void => recorder.pod(pod, { type: "Warning", reason, message });
  const text = messageOf(error);
  if (error instanceof PodCgroupError)
    warn("FailedCreatePodContainer", `unable to ensure pod container exists: ${text}`);
  else if (error instanceof PodDirectoriesError) warn("Failed", `error making pod data directories: ${text}`);
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
  if (error instanceof NetworkNotReadyError) warn("NetworkNotReady", error.message);
  else if (error instanceof InspectionError) {
    if (sandboxUnseen) warn("FailedPodSandBoxStatus", `Unable to get pod sandbox status: ${error.message}`);
    else warn("FailedSync", `error determining status: ${error.message}`);
  }
}
