// A source desires a pod, or has changed its definition: records, admission, volumes and status take it over.
import type { Pod } from "../../shared/api/pod.js";
import { PodSandboxState } from "../../shared/cri/gen/runtime.v1.js";
import { isFinalPhase } from "../model/phase.js";
import { outgrown } from "../runtime/update-container.js";
import type { SyncParts } from "./sync-parts.js";

export function acceptPod(parts: SyncParts, pod: Pod): void {
  const { uid } = pod.metadata;
  const before = parts.records.get(uid);
  const api = parts.cluster?.statusOf(uid);
  parts.records.accept(pod, new Date(api?.startTime ?? parts.deps.clock.now()));
  parts.events.emit("accepted", { pod, known: before !== undefined });
  const allocated = parts.resizes.onDesired(pod);
  parts.admission.updated(allocated);
  if (parts.workers.get(uid)?.state === "syncing") parts.events.emit("updated", { pod: allocated });
  const record = parts.records.get(uid);
  if (record !== undefined) {
    const { startTime } = record;
    // The API server's verdict counts as well as our own, unless it came while the pod ran.
    const foreign = isFinalPhase(api?.phase) && parts.workers.get(uid) === undefined ? api : undefined;
    const finalStatus = record.finalStatus ?? foreign;
    // A pod that is over refers to nothing any more.
    if (finalStatus === undefined) {
      parts.deps.runtime.cluster?.()?.podWanted(allocated);
      parts.deps.runtime.volumes.podChanged(allocated);
    }
    if (finalStatus !== undefined) parts.statuses.restore(pod, finalStatus);
    else if (before?.finalStatus !== undefined) parts.statuses.acceptAgain(pod, startTime);
    else parts.statuses.accept(pod, startTime);
  }
  // Adopted pods have their cgroup already: their exits are watched from the first moment. A deleted pod is terminated anyway.
  const { sandboxes } = parts.cache.get(uid);
  const ends = pod.metadata.deletionTimestamp !== undefined;
  if (!ends && sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY)) {
    const sized = outgrown(allocated, parts.allocations.actuated(uid));
    parts.cgroupWatches.adopt(allocated, sized === allocated ? undefined : sized).catch((error: unknown) => {
      parts.deps.log.warn({ uid, err: error }, "cannot check the pod's cgroup");
    });
  }
}
