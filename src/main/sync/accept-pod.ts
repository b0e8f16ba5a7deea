// A source desires a pod, or has changed its definition: records, admission, volumes and status take it over.
import type { Pod } from "../../shared/api/pod.js";
import { PodSandboxState } from "../../shared/cri/gen/runtime.v1.js";
import { isFinalPhase } from "../model/phase.js";
import { outgrown } from "../runtime/update-container.js";
import type { SyncComponents } from "./sync-components.js";

export function acceptPod(components: SyncComponents, pod: Pod): void {
  const { uid } = pod.metadata;
  const before = components.records.get(uid);
  const api = components.cluster?.statusOf(uid);
  components.records.accept(pod, new Date(api?.startTime ?? components.deps.clock.now()));
  components.events.emit("accepted", { pod, known: before !== undefined });
  const allocated = components.resizes.onDesired(pod);
  components.admission.updated(allocated);
  if (components.workers.get(uid)?.state === "syncing") components.events.emit("updated", { pod: allocated });
  const record = components.records.get(uid);
  if (record !== undefined) {
    const { startTime } = record;
    // The API server's verdict counts as well as our own, unless it came while the pod ran.
    const foreign = isFinalPhase(api?.phase) && components.workers.get(uid) === undefined ? api : undefined;
    const finalStatus = record.finalStatus ?? foreign;
    // A terminated pod refers to no objects any more.
    if (finalStatus === undefined) {
      components.deps.runtime.cluster?.()?.podWanted(allocated);
      components.deps.runtime.volumes.podChanged(allocated);
    }
    if (finalStatus !== undefined) components.statuses.restore(pod, finalStatus);
    else if (before?.finalStatus !== undefined) components.statuses.acceptAgain(pod, startTime);
    else components.statuses.accept(pod, startTime);
  }
  // Adopted pods have their cgroup already: their exits are watched from the first moment. A deleted pod is terminated anyway.
  const { sandboxes } = components.cache.get(uid);
  const ends = pod.metadata.deletionTimestamp !== undefined;
  if (!ends && sandboxes.some(({ state }) => state === PodSandboxState.SANDBOX_READY)) {
    const sized = outgrown(allocated, components.allocations.actuated(uid));
    components.cgroupWatches.adopt(allocated, sized === allocated ? undefined : sized).catch((error: unknown) => {
      components.deps.log.warn({ uid, err: error }, "cannot check the pod's cgroup");
    });
  }
}
