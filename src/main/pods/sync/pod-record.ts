// The record of a pod on disk, its decoding, and a termination that an earlier kubelet process began. Only the fields
// that the kubelet relies on are checked.

import { type SteadyTime, later } from "../../../shared/base/clock/moments.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import { safePodUid } from "../../../shared/kubernetes/api/pod-uid.js";
import { type Pod, isStaticPod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid, ContainerId } from "../../../shared/kubernetes/identifiers.js";
import type { PodFailure } from "../../model/refusal.js";
import { slimPod } from "../../model/slim-pod.js";
import type { TerminationRequest } from "../../model/synced-pod.js";

export interface PodRecord {
  version: 1;
  pod: Pod;
  /**
   * RFC 3339, when this node accepted the pod: activeDeadlineSeconds counts from it. status.startTime is the same,
   * except on a stand-alone node after a restart of the kubelet.
   */
  startTime: string;
  /** Kernel's name for the time from one start of the machine to the next. */
  bootId?: string;
  /** Place in the order of admission; absent while the pod is not admitted. */
  admitted?: number;
  termination?: TerminationRequest;
  /** The kubelet ends the pod, or has ended it: it never runs again. */
  failure?: PodFailure & { deadline: SteadyTime };
  /**
   * For the deadlines: the steady clock minus the monotonic clock, in ms, in the kubelet process that set them. It
   * differs in the next process if the system clock was set meanwhile.
   */
  clockOffset?: number;
  /** The final status of a terminated pod, as the API server shows it. */
  finalStatus?: PodStatus;
  /** Deadline for the sidecars of a pod whose other containers completed. */
  endDeadline?: SteadyTime;
  /** Containers whose preStop hook has run, by id. */
  preStopsDone?: ContainerId[];
}

/** Converts deadlines that another kubelet process set since the same boot to the clock of this process. */
export function onClock(record: PodRecord, clockOffset: number): PodRecord {
  if (record.clockOffset === undefined) return record;
  const shift = Math.round(clockOffset - record.clockOffset);
  const { termination, failure, endDeadline } = record;
  return omitUndefined({
    ...record,
    clockOffset,
    termination:
      termination !== undefined ? { ...termination, deadline: later(termination.deadline, shift) } : undefined,
    failure: failure !== undefined ? { ...failure, deadline: later(failure.deadline, shift) } : undefined,
    endDeadline: endDeadline !== undefined ? later(endDeadline, shift) : undefined,
  });
}

/** Throws if the value is not a record of the pod with this UID. */
export function decodeRecord(value: unknown, uid: PodUid): PodRecord {
  const record = value as { [Key in keyof PodRecord]?: unknown } | null;
  if (record?.version !== 1) throw new Error("not a pod record of version 1");
  const pod = record.pod as { metadata?: Partial<Pod["metadata"]>; spec?: Partial<Pod["spec"]> } | undefined;
  if (pod?.metadata?.uid !== uid) throw new Error("its pod is missing or is not the one of the file's name");
  safePodUid(uid);
  const { name, namespace } = pod.metadata;
  if (typeof name !== "string" || typeof namespace !== "string" || !Array.isArray(pod.spec?.containers)) {
    throw new Error("its pod is incomplete");
  }
  if (typeof record.startTime !== "string") throw new Error("the start time is missing");
  const termination = record.termination as Partial<TerminationRequest> | undefined;
  if (termination !== undefined && !(Number.isFinite(termination.deadline) && typeof termination.reason === "string")) {
    throw new Error("the termination is incomplete");
  }
  const failure = record.failure as Partial<NonNullable<PodRecord["failure"]>> | undefined;
  if (failure !== undefined && !(Number.isFinite(failure.deadline) && typeof failure.reason === "string")) {
    throw new Error("the failure is incomplete");
  }
  if (record.endDeadline !== undefined && !Number.isFinite(record.endDeadline)) {
    throw new Error("the deadline of its end is no time");
  }
  if (record.clockOffset !== undefined && !Number.isFinite(record.clockOffset)) {
    throw new Error("the offset of the deadlines' clock is no number");
  }
  const finalStatus = record.finalStatus as Partial<PodStatus> | null | undefined;
  if (finalStatus !== undefined && typeof finalStatus?.phase !== "string") throw new Error("the status has no phase");
  if (record.preStopsDone !== undefined && !Array.isArray(record.preStopsDone)) {
    throw new Error("the preStop hooks that have run are not a list");
  }
  return record as PodRecord;
}

/**
 * False for a pod that no container runs of: it was rejected, or not yet admitted. It is admitted or rejected again,
 * and the API server knows which pods are Failed.
 */
export function isNeeded(record: PodRecord): boolean {
  const { admitted, failure, termination, finalStatus, endDeadline, preStopsDone } = record;
  return [admitted, failure, termination, finalStatus, endDeadline, preStopsDone].some((one) => one !== undefined);
}

/** The record of a terminated pod of the API server, which never runs again; others as they are. */
export function withoutDefinition(record: PodRecord): PodRecord {
  const { pod, finalStatus } = record;
  return finalStatus === undefined || isStaticPod(pod) ? record : { ...record, pod: slimPod(pod, finalStatus) };
}

/**
 * A terminated static pod runs again if its spec changed. A pod from the API server never runs again: its
 * verdict is final.
 */
export function runsAgain(before: Pod | undefined, after: Pod): boolean {
  return isStaticPod(after) && JSON.stringify(before?.spec) !== JSON.stringify(after.spec);
}
