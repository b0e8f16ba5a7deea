// How long containers have run, by the steady clock: the runtime's own moments jump with the wall clock.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import type { FakeState } from "../../fake-cri/state.js";
import { kernel } from "../kernel/kernel.js";

export class Run {
  private readonly startedAt = kernel.monotonic;
  private endedAt = Infinity;

  end(): void {
    this.endedAt = Math.min(this.endedAt, kernel.monotonic);
  }

  /** Time for which it had run at a steady moment, ms. */
  ranMs(at: number): number {
    return Math.max(0, Math.min(this.endedAt, at) - this.startedAt);
  }
}

export class ContainerRuns {
  private readonly runs = new Map<string, Run>();

  constructor(state: FakeState) {
    const { CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } = ContainerEventType;
    state.eventListeners.add(({ containerId, containerEventType }) => {
      const isGone = containerEventType === CONTAINER_DELETED_EVENT;
      if (containerEventType === CONTAINER_STARTED_EVENT) this.runs.set(containerId, new Run());
      if (containerEventType === CONTAINER_STOPPED_EVENT || isGone) this.runs.get(containerId)?.end();
      if (isGone) this.runs.delete(containerId);
    });
  }

  /** Undefined: it has not started, or is gone. */
  of(id: string): Run | undefined {
    return this.runs.get(id);
  }
}
