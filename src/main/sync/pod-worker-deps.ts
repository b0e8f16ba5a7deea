// Builds the collaborators of each pod worker.
import { moduleLogger } from "../../shared/log/logger.js";
import { LoopShare } from "../../shared/turns/loop-share.js";
import { Doer } from "../runtime/doer.js";
import type { PassReports } from "./pass-reports.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import type { SyncComponents } from "./sync-components.js";

export function podWorkerDeps(components: SyncComponents, reports: PassReports): (uid: string) => PodWorkerDeps {
  const { deps } = components;
  const { runtime, clock } = deps;
  const log = moduleLogger(deps.log, "pod-worker");
  const loop = new LoopShare(clock);
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
    admission: components.admission,
    resizes: components.resizes,
    isCgroupLost: (pod) => runtime.cgroups.isLost(pod),
    keptEnd: components.records,
    startTime: (pod) => components.records.get(pod)?.startTime,
    runtime: () => components.cache.runtime,
    clock,
    loop,
    log,
    reports,
    gates: deps.gates,
    backoff: deps.backoff,
    syncFrequencyMs: deps.syncFrequencyMs,
    deadContainersKept: runtime.settings.maximumDeadContainersPerContainer,
  });
}
