// The planner's record of completed steps that the runtime does not show: containers that were stopped for a restart, and containers
// that were removed because all restart. It ends with the process: after that only the exit code counts.
import { forgetAllBut, type ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Step } from "../model/step.js";

export class RestartMemory {
  /** Ids of containers stopped for a restart. */
  private readonly stopped = new Set<string>();
  /** Names of containers removed by the rule RestartAllContainers that do not exist again yet. */
  readonly removed = new Set<string>();

  /** Call before the step runs: after a failed call the result is unknown. */
  record(step: Step): void {
    if (step.kind === "kill-container" && step.restart === true) this.stopped.add(step.containerId);
    if (step.kind === "remove-container" && step.restartAll === true) this.removed.add(step.name);
  }

  /** Forgets containers that the runtime no longer lists, and removed containers that exist again. */
  onObserved(observed: ObservedPod): void {
    forgetAllBut(this.stopped, observed);
    for (const { metadata } of observed.containers) this.removed.delete(metadata?.name ?? "");
  }

  restarts(containerId: string): boolean {
    return this.stopped.has(containerId);
  }
}
