// The pod start SLI: the time from the pod first seen to all of its containers running (sig-scalability, "pod startup
// latency"). It excludes the time for pulling images and for init containers. Pure.

import type { TimelineStage } from "../../shared/contracts/timeline.js";

export interface StartSliInput {
  /** Milliseconds since the epoch, as all times here. */
  seenAt: number;
  runningAt: number;
  stages: readonly TimelineStage[];
  initContainers: ReadonlySet<string>;
}

/** Stage under which an image's pull is written down. */
export const PULL_STAGE = "pull";
/** Stage of an init container's run, from its start to its exit. */
export const INIT_STAGE = "init";

/** Milliseconds. Overlapping pulls and init containers are taken off once. */
export function startSli({ seenAt, runningAt, stages, initContainers }: StartSliInput): number {
  const excluded = stages
    .filter(
      ({ stage, container }) =>
        stage === PULL_STAGE || (stage === INIT_STAGE && container !== undefined && initContainers.has(container)),
    )
    .map(({ startedAt, endedAt = runningAt }) => ({
      from: Math.max(startedAt, seenAt),
      to: Math.min(endedAt, runningAt),
    }))
    .filter(({ from, to }) => to > from)
    .sort((a, b) => a.from - b.from);
  let covered = 0;
  let until = seenAt;
  for (const { from, to } of excluded) {
    covered += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return runningAt - seenAt - covered;
}
