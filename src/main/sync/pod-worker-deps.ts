// Builds the collaborators of each pod worker, and passes the reports of its passes to the other components of the sync path.
import type { Pod } from "../../shared/api/pod.js";
import { moduleLogger } from "../../shared/log/logger.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import { Doer } from "../runtime/doer.js";
import type { PodWorkerDeps, PodWorkerEvents, SyncedPod } from "./pod-worker-port.js";
import type { SyncComponents } from "./sync-components.js";
import type { StatusUpdate } from "../status/pod-statuses.js";
export function podWorkerDeps(components: SyncComponents): (uid: string) => PodWorkerDeps {
  const { deps } = components;
  const { runtime, clock } = deps;
  const log = moduleLogger(deps.log, "pod-worker");
  const events = workerEvents(components);
  return (uid) => ({
    cache: components.cache,
    probes: deps.probes.results,
    doer: new Doer(
      runtime,
      uid,
      (pod, watchDirs) => components.cgroupWatches.set(pod, watchDirs),
      {
        has: (containerId) => components.records.preStopsDone(uid).includes(containerId),
        add: (containerId) => components.records.preStopDone(uid, containerId),
        onObserved: (observed) => components.records.preStopsSeen(observed),
      },
      () => components.allocations.actuated(uid),
      () => components.workers.comesBack(uid),
    ),
    recorder: runtime.events,
    admit: (pod, signal) => admit(components, pod, signal),
    resizes: components.resizes,
    isCgroupLost: (pod) => runtime.cgroups.isLost(pod),
    keptEnd: components.records,
    startTime: (pod) => components.records.get(pod)?.startTime,
    runtime: () => components.cache.runtime,
    clock,
    log,
    events,
    gates: deps.gates,
    backoff: deps.backoff,
    syncFrequencyMs: deps.syncFrequencyMs,
    deadContainersKept: runtime.settings.maximumDeadContainersPerContainer,
  });
}

function workerEvents(components: SyncComponents): PodWorkerEvents {
  return {
    onSynced: (synced) => onSynced(components, synced),
    onPass: (operation, durationMs) => components.events.emit("passEnded", { operation, durationMs }),
    onEnding: async (uid, { cause, failure, deadline }) => {
      components.cgroupWatches.set(uid, []);
      if (cause === "failed" && failure !== undefined) await components.records.failing(uid, failure, deadline);
    },
    onTerminating: (uid, deadline, reason) => {
      // From here on every exit is the kubelet's own request, and main inspects the pod itself.
      components.cgroupWatches.set(uid, []);
      return components.records.terminating(uid, { deadline, reason });
    },
    onTerminated: (uid) => components.workers.terminated(uid),
    onFinished: (uid) => components.events.emit("cleanedUp", { uid }),
  };
}

async function admit(components: SyncComponents, pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
  const verdict = await components.admission.admit(pod, signal);
  if (verdict.admit) components.events.emit("admitted", { pod });
  return verdict;
}

function onSynced(components: SyncComponents, synced: SyncedPod): void {
  const { pod, plan, state, ended, end, inPostStart } = synced;
  const { uid } = pod.metadata;
  components.events.emit("synced", synced);
  if (ended) components.events.emit("terminated", { uid });
  else if (state === "syncing") components.resizes.onSynced(pod, plan.resizing === true);
  const failure = end?.failure;
  if (end?.cause === "rejected" && failure !== undefined && ended) {
    components.statuses.reject(pod, failure);
    return;
  }
  components.statuses.update(statusOfPass(synced));
  if (inPostStart === undefined) components.planEvents.emit(pod, plan.events ?? []);
}

/** The status update from one pass of a pod worker. */
function statusOfPass(synced: SyncedPod): StatusUpdate {
  const { pod, observed, plan, failures, state, mayRun, ended, end, inPostStart } = synced;
  const waiting = new Map<string, { reason: string; message: string }>(failures);
  for (const [name, { reason = "", message = "" }] of plan.waiting) waiting.set(name, { reason, message });
  const { restarting, restartingAll } = plan;
  return {
    ...{ pod, observed, waiting, mayRun, ended },
    final: plan.finished || state !== "syncing",
    ...(end?.cause === "failed" && end.failure !== undefined && { failure: end.failure }),
    ...(inPostStart !== undefined && { inPostStart }),
    ...(restarting !== undefined && { restarting }),
    ...(restartingAll !== undefined && { restartingAll }),
  };
}
