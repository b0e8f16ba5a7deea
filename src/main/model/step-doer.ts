// The interface of the doer to a pod worker: one method that executes a step of a plan.
import type { Pod } from "../../shared/api/pod.js";
import type { InspectHint } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Step } from "./step.js";

/** Executes steps. Rejects with StartContainerError if one container failed; every other error fails the whole pass. */
export interface StepDoer {
  /** `onProgress` reports the changes of a long step so far. */
  execute(
    pod: Pod | undefined,
    step: Step,
    signal: AbortSignal,
    onProgress?: (hints: InspectHint[]) => void,
  ): Promise<InspectHint[]>;
  /** Called with the observed pod of each pass: drops the state of containers that no longer exist. */
  onObserved?(observed: ObservedPod): void;
  /** The kubelet stops: also ends work that outlives an aborted step. */
  stop?(): Promise<void>;
}
