// How the parts of the sync path say what they are doing for a pod, and for how long.

/** Ends a stage: without an error it went well. A second call changes nothing. */
export type EndStage = (error?: unknown) => void;

export interface PodTrace {
  /** `stage` is a planner's step, or a part of one: "pull", "volumes". Never throws. */
  begin(uid: string, stage: string, container?: string): EndStage;
}

/** For parts that run without a node around them. */
export const noTrace: PodTrace = { begin: () => () => undefined };

/** Times `work` as a stage of the pod. */
export async function traced<Result>(
  trace: PodTrace,
  subject: { uid: string; stage: string; container?: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const end = trace.begin(subject.uid, subject.stage, subject.container);
  try {
    const result = await work();
    end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}
