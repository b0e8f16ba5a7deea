// The results of a pod worker's passes: records, resizes and statuses take them, and the pod events follow from them.
// The metrics count each pass under its operation.

import type { SteadyTime } from "../../../shared/base/clock/moments.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { isFinalPhase } from "../../model/phase.js";
import type { PodEventStream } from "../../model/pod-events.js";
import type { PodEnd, SyncedPod, WorkerOperation } from "../../model/synced-pod.js";
import type { Resizes } from "../admission/resizes.js";
import type { PlanEvents } from "../planner/plan-events.js";
import type { PodStatuses } from "../status/pod-statuses.js";
import type { StatusUpdate } from "../status/status-input.js";
import type { PodCgroupWatches } from "./pod-cgroup-watches.js";
import type { PodRecords } from "./pod-records.js";

interface PassReportsDeps {
  events: PodEventStream;
  records: PodRecords;
  resizes: Resizes;
  statuses: PodStatuses;
  planEvents: PlanEvents;
  cgroupWatches: PodCgroupWatches;
}

export class PassReports {
  constructor(private readonly deps: PassReportsDeps) {}

  onAdmitted(pod: Pod): void {
    this.deps.events.emit("admitted", { pod });
  }

  /** Before {@link onSynced}: the status of a pod with many containers takes turns of the loop. */
  prepare(synced: SyncedPod): Promise<void> {
    return this.deps.statuses.prepare(synced.pod, () => statusOfPass(synced));
  }

  /** The pod's state or waits changed: its status is computed again. */
  onSynced(synced: SyncedPod): void {
    const { events, resizes, statuses, planEvents } = this.deps;
    const { pod, plan, state, ended, end, inPostStart } = synced;
    const { uid } = pod.metadata;
    events.emit("synced", synced);
    if (ended) events.emit("terminated", { uid });
    else if (state === "syncing") resizes.onSynced(pod, plan.resizing === true);
    const failure = end?.failure;
    if (end?.cause === "rejected" && failure !== undefined && ended) {
      statuses.reject(pod, failure);
      return;
    }
    statuses.update(statusOfPass(synced));
    if (inPostStart === undefined) planEvents.emit(pod, plan.events ?? []);
  }

  /** The status that was reported last is Succeeded or Failed. */
  isFinal(uid: PodUid): boolean {
    return isFinalPhase(this.deps.statuses.get(uid)?.status?.phase);
  }

  /** One pass ended, with or without success. */
  onPass(operation: WorkerOperation, durationMs: number): void {
    this.deps.events.emit("passEnded", { operation, durationMs });
  }

  /**
   * The pod is being ended, though its source still wants it. Settles as onTerminating does. Called again when the
   * deadline moves.
   */
  async onEnding(uid: PodUid, { cause, failure, deadline }: PodEnd): Promise<void> {
    this.deps.cgroupWatches.set(uid, []);
    if (cause === "failed") this.deps.events.emit("stopping", { uid });
    if (cause === "failed" && failure !== undefined) await this.deps.records.failing(uid, failure, deadline);
  }

  /** Settles when the deadline is persisted, or cannot be: no stop is sent before. */
  onTerminating(uid: PodUid, deadline: SteadyTime, reason: string): Promise<void> {
    // From here on every exit is the kubelet's own request, and main inspects the pod itself.
    this.deps.cgroupWatches.set(uid, []);
    this.deps.events.emit("stopping", { uid });
    return this.deps.records.terminating(uid, { deadline, reason });
  }

  /** No source wants the pod, and it uses nothing of the node; the runtime may still list its stopped sandboxes. */
  onLeft(uid: PodUid): void {
    this.deps.events.emit("left", { uid });
  }

  /** No source wants the pod, and nothing of it is left on the node. */
  onTerminated(uid: PodUid): void {
    this.deps.events.emit("workerDone", { uid });
  }

  /**
   * The pod is terminated, though its source still wants it: no container runs, and its volumes and cgroup are
   * released.
   */
  onFinished(uid: PodUid): void {
    this.deps.events.emit("cleanedUp", { uid });
  }
}

/** The status update from one pass of a pod worker. */
function statusOfPass(synced: SyncedPod): StatusUpdate {
  const { pod, observed, plan, failures, state, mayRun, ended, end, inPostStart } = synced;
  const waiting = new Map<string, { reason: string; message: string }>(failures);
  for (const [name, { reason = "", message = "" }] of plan.waiting) waiting.set(name, { reason, message });
  const { restarting, restartingAll } = plan;
  return {
    pod,
    observed,
    waiting,
    mayRun,
    ended,
    final: plan.finished || state !== "syncing",
    failure: end?.cause === "failed" && end.failure !== undefined ? end.failure : undefined,
    inPostStart,
    restarting,
    restartingAll,
  };
}
