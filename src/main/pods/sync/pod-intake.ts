// A source desires a pod, or has changed its definition: records, admission, volumes and status take it over.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodStatus } from "../../../shared/kubernetes/api/pod-status.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import { PodSandboxState } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { NodeRuntime } from "../../containers/runtime/node-runtime.js";
import { outgrown } from "../../containers/runtime/update-container.js";
import { isFinalPhase } from "../../model/phase.js";
import type { PodEnd, PodWorkerState } from "../../model/synced-pod.js";
import type { AdmissionQueue } from "../admission/admission-queue.js";
import type { Resizes } from "../admission/resizes.js";
import type { PodStatuses } from "../status/pod-statuses.js";
import { earlierEnd } from "./earlier-end.js";
import type { PodCgroupWatches } from "./pod-cgroup-watches.js";
import { type PodRecord } from "./pod-record.js";
import type { PodState } from "./pod-state.js";

interface PodIntakeDeps {
  state: PodState;
  runtime: Pick<NodeRuntime, "cluster" | "volumes">;
  resizes: Resizes;
  admission: AdmissionQueue;
  statuses: PodStatuses;
  cgroupWatches: PodCgroupWatches;
  clock: Clock;
  log: Logger;
}

export class PodIntake {
  constructor(private readonly deps: PodIntakeDeps) {}

  /** `state`: of the pod's worker; undefined: it has none yet. */
  accept(pod: Pod, state: PodWorkerState | undefined): void {
    const { resizes, admission, clock } = this.deps;
    const { records, events } = this.deps.state;
    const { uid } = pod.metadata;
    const before = records.get(uid);
    const api = this.deps.state.cluster?.statusOf(uid);
    // Another kubelet process has ended the pod, and the API server knows: no record is needed.
    const isOver = state === undefined && isFinalPhase(api?.phase);
    if (isOver && (before === undefined || before.finalStatus !== undefined)) records.markReleased(uid);
    records.accept(pod, new Date(api?.startTime ?? clock.now()));
    events.emit("accepted", { pod, known: before !== undefined });
    const allocated = resizes.onDesired(pod);
    admission.updated(allocated);
    if (state === "syncing") events.emit("updated", { pod: allocated });
    // The API server's verdict counts as well as our own, unless it came while the pod ran.
    this.show(pod, allocated, before, isOver ? api : undefined);
    this.watchAdopted(pod, allocated);
  }

  /** A source has changed the definition of a terminating pod. */
  redefine(pod: Pod): void {
    this.deps.state.events.emit("redefined", { pod });
  }

  /** The pod with the resources that it may use. */
  allocated(pod: Pod): Pod {
    return this.deps.resizes.effective(pod.metadata.uid) ?? pod;
  }

  /** The pod's termination by an earlier kubelet process, if any; `terminated`: that process completed it. */
  earlierEnd(uid: PodUid): { end: PodEnd; terminated: boolean } | undefined {
    const { state, clock } = this.deps;
    return earlierEnd(state.records.get(uid), this.deps.state.cluster?.statusOf(uid)?.phase, clock.steady());
  }

  /** Shows the pod's first status, or the final one that it has already. */
  private show(pod: Pod, allocated: Pod, before: PodRecord | undefined, foreign: PodStatus | undefined): void {
    const { state, statuses, runtime } = this.deps;
    const { records } = state;
    const record = records.get(pod.metadata.uid);
    if (record === undefined) return;
    const finalStatus = record.finalStatus ?? foreign;
    // A terminated pod refers to no objects any more.
    if (finalStatus === undefined) {
      runtime.cluster?.()?.podWanted(allocated);
      runtime.volumes.podChanged(allocated, before !== undefined);
    }
    const startTime = before === undefined ? record.startTime : this.shownStart(record);
    if (finalStatus !== undefined) statuses.restore(pod, finalStatus);
    else if (before?.finalStatus !== undefined) statuses.acceptAgain(pod, startTime);
    else statuses.accept(pod, startTime);
  }

  /**
   * status.startTime of a pod with a record. Without an API server that keeps it, it is the time when this process
   * first saw the pod, as upstream; the active deadline counts from the record in any case (docs/adr/0013).
   */
  private shownStart({ pod, startTime }: PodRecord): string {
    const { runtime, statuses, clock } = this.deps;
    if (runtime.cluster !== undefined) return startTime;
    return statuses.get(pod.metadata.uid)?.status?.startTime ?? apiTime(clock.now());
  }

  /**
   * Adopted pods have their cgroup already: their exits are watched from the first moment. A deleted pod is terminated
   * anyway.
   */
  private watchAdopted(pod: Pod, allocated: Pod): void {
    const { state, cgroupWatches, log } = this.deps;
    const { cache, allocations } = state;
    const { uid, deletionTimestamp } = pod.metadata;
    const { sandboxes } = cache.get(uid);
    if (deletionTimestamp !== undefined) return;
    if (!sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY)) return;
    const sized = outgrown(allocated, allocations.actuated(uid));
    cgroupWatches.adopt(allocated, sized === allocated ? undefined : sized).catch((error: unknown) => {
      log.warn({ uid, err: error }, "cannot check the pod's cgroup");
    });
  }
}
