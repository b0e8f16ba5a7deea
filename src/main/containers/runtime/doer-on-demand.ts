// A pod's doer while it has something to do. A node may keep thousands of pods that have ended; none of them keeps a
// doer.

import type { InspectHint } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { Step } from "../../model/step.js";
import type { Doer } from "./doer.js";

export class DoerOnDemand {
  private doer: Doer | undefined;

  constructor(
    private readonly make: () => Doer,
    /** Called for an observation of a pod without a doer. */
    private readonly observedAlone: (observed: ObservedPod) => void,
  ) {}

  /** Runs the step, as Doer.execute does, and makes the doer for it. */
  execute(
    pod: Pod | undefined,
    step: Step,
    signal: AbortSignal,
    onProgress?: (hints: InspectHint[]) => void,
  ): Promise<InspectHint[]> {
    this.doer ??= this.make();
    return this.doer.execute(pod, step, signal, onProgress);
  }

  /** Drops the state of containers that the runtime no longer has. */
  onObserved(observed: ObservedPod): void {
    if (this.doer === undefined) this.observedAlone(observed);
    else this.doer.onObserved(observed);
  }

  /** The kubelet stops; the pod keeps running. */
  async stop(): Promise<void> {
    await this.doer?.stop();
  }

  /** The pod has ended: drops the doer, unless a hook is under way. */
  rest(): void {
    if (this.doer?.isIdle === true) this.doer = undefined;
  }
}
