// What the planner must remember of steps already done, since the runtime does not show it: which containers were stopped
// in order to be started again, and which are gone because all were to be restarted. Lost with the kubelet: then only the
// exit code counts.
import { forgetAllBut, type ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Step } from "../model/step.js";

export class RestartMemory {
  /** Ids of containers stopped in order to be started again. */
  private readonly stopped = new Set<string>();
  /** Names of containers removed by the rule RestartAllContainers and not there again. */
  readonly removed = new Set<string>();

  /** Call before a step is done: what a failed call left behind is not known. */
  note(step: Step): void {
    if (step.kind === "kill-container" && step.restart === true) this.stopped.add(step.containerId);
    if (step.kind === "remove-container" && step.restartAll === true) this.removed.add(step.name);
  }

  /** Forgets what the runtime no longer has, and what is there again. */
  see(observed: ObservedPod): void {
    forgetAllBut(this.stopped, observed);
    for (const { metadata } of observed.containers) this.removed.delete(metadata?.name ?? "");
  }

  restarts(containerId: string): boolean {
    return this.stopped.has(containerId);
  }
}
