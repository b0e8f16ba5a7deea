// What a pod worker needs of the doer: one method that executes a step of a plan.
import type { Pod } from "../../shared/api/pod.js";
import type { InspectHint } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Step } from "./step.js";

/** Executes steps. Rejects with StartContainerError if one container failed; every other error fails the whole pass. */
export interface StepDoer {
  /** `onProgress` tells what a long step has changed so far. */
  execute(
    pod: Pod | undefined,
    step: Step,
    signal: AbortSignal,
    onProgress?: (hints: InspectHint[]) => void,
  ): Promise<InspectHint[]>;
  /** The pod as a pass found it: what is kept of containers that are gone is dropped. */
  saw?(observed: ObservedPod): void;
  /** The kubelet stops: what outlives an aborted step ends too. */
  stop?(): Promise<void>;
}
