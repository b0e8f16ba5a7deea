// Stages of the sync path report their start, end and error for a pod through this interface. The pod start SLI is computed from them.
import type { TimelineStage } from "../../shared/contracts/timeline.js";

/** Ends a stage: without an error the stage succeeded. A second call changes nothing. */
export type EndStage = (error?: unknown) => void;

export interface PodTrace {
  /** `stage` is a planner's step, or a part of one: "pull", "volumes". Never throws. */
  startStage(uid: string, stage: string, container?: string): EndStage;
}

/** Times `work` as a stage of the pod. */
export async function traced<Result>(
  trace: PodTrace,
  subject: { uid: string; stage: string; container?: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const end = trace.startStage(subject.uid, subject.stage, subject.container);
  try {
    const result = await work();
    end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}

// The pod start SLI: the time from the pod first seen to all of its containers running (sig-scalability, "pod startup latency"). It
// excludes the time for pulling images and for init containers. Pure.

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
