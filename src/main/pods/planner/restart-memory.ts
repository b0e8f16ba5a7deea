// The planner's record of completed steps that the runtime does not show. These are containers that were stopped for a
// restart, and containers that were removed because all restart. It ends with the process: after that only the exit
// code counts.

import { type ObservedPod, forgetAllBut } from "../../../shared/kubernetes/cri/observed-pod.js";
import type { ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { Step } from "../../model/step.js";

export class RestartMemory {
  /** Reasons by ids of containers stopped for a restart. */
  private readonly stopped = new Map<ContainerId, string>();
  /** Those among them that get new resources by it. */
  private readonly resized = new Set<ContainerId>();
  /** Names of containers removed by the rule RestartAllContainers that do not exist again yet. */
  readonly removed = new Set<string>();

  /** Call before the step runs: after a failed call the result is unknown. */
  record(step: Step): void {
    if (step.kind === "kill-container" && step.restart === true) this.stopped.set(step.containerId, step.reason);
    if (step.kind === "kill-container" && step.forResize === true) this.resized.add(step.containerId);
    if (step.kind === "remove-container" && step.restartAll === true) this.removed.add(step.name);
  }

  /** Forgets containers that the runtime no longer lists, and removed containers that exist again. */
  onObserved(observed: ObservedPod): void {
    forgetAllBut(this.stopped, observed);
    forgetAllBut(this.resized, observed);
    for (const { metadata } of observed.containers) this.removed.delete(metadata?.name ?? "");
  }

  get stops(): ReadonlyMap<ContainerId, string> {
    return this.stopped;
  }

  restarts(containerId: ContainerId): boolean {
    return this.stopped.has(containerId);
  }

  resizes(containerId: ContainerId): boolean {
    return this.resized.has(containerId);
  }
}
