// The last run of a container that ended, and whether its restart still counts. Pure.

import { CRASH_RESET_MS } from "../../shared/kubernetes/api/crash-reset.js";
import type { ContainerStateTerminated } from "../../shared/kubernetes/api/pod-status.js";
import { timeOf } from "../output/amounts.js";
import type { ContainerView, WhyInput } from "./input.js";

/** The present state's when the container does not run, else that of the run before. */
export function lastEnd({ status }: ContainerView): ContainerStateTerminated | undefined {
  return status?.state.terminated ?? status?.lastState.terminated;
}

/** A run that began and ended. undefined: the runtime could not start it, or its record is lost. */
export function ranAndEnded(view: ContainerView): ContainerStateTerminated | undefined {
  const ended = lastEnd(view);
  return ended === undefined || neverRan(ended) || timeOf(ended.finishedAt) === undefined ? undefined : ended;
}

/** The runtime made the container and could not start its program. */
export function neverRan({ reason }: ContainerStateTerminated): boolean {
  return reason === "StartError" || reason === "ContainerCannotRun";
}

/** True until the container has run for so long that its next crash restarts it without a back-off. */
export function countsStill({ status }: ContainerView, endedAt: number, now: number): boolean {
  const startedAt = timeOf(status?.state.running?.startedAt) ?? endedAt;
  return now - Math.max(startedAt, endedAt) < CRASH_RESET_MS;
}

/**
 * Why the kubelet itself ended a run in order to start the container again. undefined: it did not, as far as it
 * remembers.
 */
export function ownStop({ facts }: WhyInput, ended: ContainerStateTerminated): string | undefined {
  const stop = facts?.stops?.find(({ containerId }) => isId(ended.containerID, containerId));
  if (stop !== undefined) return stop.reason;
  const endedAt = timeOf(ended.finishedAt);
  if (facts?.sandboxAt === undefined || endedAt === undefined) return undefined;
  // Times of the API have whole seconds.
  return endedAt + 1000 < facts.sandboxAt ? "the pod's sandbox was created anew" : undefined;
}

/** "containerd://3f2a" has the runtime's id "3f2a". */
export function isId(containerID: string | undefined, id: string): boolean {
  return containerID?.endsWith(`://${id}`) === true;
}
