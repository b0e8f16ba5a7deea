// Stages of the sync path report their start, end and error for a pod through this interface. The pod start SLI is
// computed from them.

import type { PodUid } from "../../shared/kubernetes/identifiers.js";

/** Ends a stage: without an error the stage succeeded. A second call changes nothing. */
export type EndStage = (error?: unknown) => void;

export interface PodTrace {
  /** `stage` is a planner's step, or a part of one: "pull", "volumes". Never throws. */
  startStage(uid: PodUid, stage: string, container?: string): EndStage;
}

/** Times `work` as a stage of the pod. */
export async function traced<Result>(
  trace: PodTrace,
  subject: { uid: PodUid; stage: string; container?: string | undefined },
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
