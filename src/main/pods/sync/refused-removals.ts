// Removals that the runtime refuses again and again while a pod terminates. containerd can keep a container that no
// call removes (https://github.com/containerd/containerd/issues/11037). It must not block the release of volumes and
// cgroup, or the removal of the API object.

import { CriCancelledError, CriError, CriUnavailableError } from "../../../shared/kubernetes/cri/errors.js";
import type { Step } from "../../model/step.js";

/** Passes with a refusal after which the pod is cleaned up without the removal. */
const MOST_REFUSALS = 3;

export class RefusedRemovals {
  private refusals = 0;

  /** `onGivenUp`: the pod's termination continues without the removal; the text is the runtime's last reply. */
  constructor(private readonly onGivenUp: (message: string) => void) {}

  /** The containers and sandboxes stay in the runtime. Container GC finds them, and tries again every minute. */
  get areGivenUp(): boolean {
    return this.refusals >= MOST_REFUSALS;
  }

  /** Runs `steps`; rejects as `run` does. */
  async during(steps: readonly Step[], run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (
        steps.every(isRemoval) &&
        !(error instanceof CriUnavailableError) &&
        !(error instanceof CriCancelledError) &&
        error instanceof CriError
      ) {
        this.refusals++;
        if (this.refusals === MOST_REFUSALS) this.onGivenUp(error.message);
      }
      throw error;
    }
  }
}

/** The step removes records of the runtime: nothing of them runs. */
export function isRemoval({ kind }: Step): boolean {
  return kind === "remove-container" || kind === "remove-sandbox";
}
