// What each pod worker is given, and what its passes report to the other parts of the sync path.
import type { Pod } from "../../shared/api/pod.js";
import { moduleLogger } from "../../shared/log/logger.js";
import type { AdmissionVerdict } from "../admission/verdict.js";
import { Doer } from "../runtime/doer.js";
import type { PodWorkerDeps, PodWorkerEvents, SyncedPod } from "./pod-worker-port.js";
import type { SyncParts } from "./sync-parts.js";
import type { StatusUpdate } from "../status/pod-statuses.js";
export function podWorkerDeps(parts: SyncParts): (uid: string) => PodWorkerDeps {
  const { deps } = parts;
  const { runtime, clock } = deps;
  const log = moduleLogger(deps.log, "pod-worker");
  const events = workerEvents(parts);
  return (uid) => ({
    cache: parts.cache,
    probes: deps.probes.results,
    doer: new Doer(
      runtime,
      uid,
      (pod, watchDirs) => parts.cgroupWatches.set(pod, watchDirs),
      {
        has: (containerId) => parts.records.preStopsDone(uid).includes(containerId),
        add: (containerId) => parts.records.preStopDone(uid, containerId),
        saw: (observed) => parts.records.preStopsSeen(observed),
      },
      () => parts.allocations.actuated(uid),
      () => parts.workers.comesBack(uid),
    ),
    recorder: runtime.events,
    admit: (pod, signal) => admit(parts, pod, signal),
    resizes: parts.resizes,
    isCgroupLost: (pod) => runtime.cgroups.isLost(pod),
    keptEnd: parts.records,
    startTime: (pod) => parts.records.get(pod)?.startTime,
    runtime: () => parts.cache.runtime,
    clock,
    log,
    events,
    gates: deps.gates,
    backoff: deps.backoff,
    deadContainersKept: runtime.settings.maximumDeadContainersPerContainer,
  });
}

function workerEvents(parts: SyncParts): PodWorkerEvents {
  return {
    onSynced: (synced) => onSynced(parts, synced),
    onPass: (operation, durationMs) => parts.events.emit("passEnded", { operation, durationMs }),
    onEnding: async (uid, { cause, failure, deadline }) => {
      parts.cgroupWatches.set(uid, []);
      if (cause === "failed" && failure !== undefined) await parts.records.failing(uid, failure, deadline);
    },
    onTerminating: (uid, deadline, reason) => {
      // From here on every exit is one that we asked for and look at ourselves.
      parts.cgroupWatches.set(uid, []);
      return parts.records.terminating(uid, { deadline, reason });
    },
    onTerminated: (uid) => parts.workers.terminated(uid),
    onFinished: (uid) => parts.events.emit("cleanedUp", { uid }),
  };
}

async function admit(parts: SyncParts, pod: Pod, signal: AbortSignal): Promise<AdmissionVerdict> {
  const verdict = await parts.admission.admit(pod, signal);
  if (verdict.admit) parts.events.emit("admitted", { pod });
  return verdict;
}

function onSynced(parts: SyncParts, synced: SyncedPod): void {
  const { pod, plan, state, ended, end, inPostStart } = synced;
  const { uid } = pod.metadata;
  parts.events.emit("synced", synced);
  if (ended) parts.events.emit("terminated", { uid });
  else if (state === "syncing") parts.resizes.onSynced(pod, plan.resizing === true);
  const failure = end?.failure;
  if (end?.cause === "rejected" && failure !== undefined && ended) {
    parts.statuses.reject(pod, failure);
    return;
  }
  parts.statuses.update(statusOfPass(synced));
  if (inPostStart === undefined) parts.planEvents.emit(pod, plan.events ?? []);
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
