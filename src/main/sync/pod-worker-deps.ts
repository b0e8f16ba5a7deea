// Builds the collaborators of each pod worker.

import { Limiter } from "../../shared/cri/limiter.js";
import { moduleLogger } from "../../shared/log/logger.js";
import { DoerOnDemand } from "../runtime/doer-on-demand.js";
import { Doer } from "../runtime/doer.js";
import { PodLogFiles } from "../runtime/pod-log-files.js";
import type { PassReports } from "./pass-reports.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";
import type { SyncComponents, NodeSyncDeps } from "./sync-components.js";

/** Passes at once of pods that ended before this kubelet started. */
const OVER_PASSES = 8;

type DoerParts = Pick<SyncComponents, "cgroupWatches" | "records" | "allocations" | "workers"> & {
  deps: Pick<NodeSyncDeps, "runtime">;
};

export function podWorkerDeps(components: SyncComponents, reports: PassReports): (uid: string) => PodWorkerDeps {
  const { deps } = components;
  const { runtime, clock } = deps;
  const log = moduleLogger(deps.log, "pod-worker");
  const shared: Omit<PodWorkerDeps, "doer"> = {
    cache: components.cache,
    probes: deps.probes.results,
    recorder: runtime.events,
    admission: components.admission,
    resizes: components.resizes,
    isCgroupLost: (pod) => runtime.cgroups.isLost(pod),
    keptEnd: components.records,
    startTime: (pod) => components.records.get(pod)?.startTime,
    runtime: () => components.cache.runtime,
    clock,
    loop: components.share,
    overPasses: new Limiter(OVER_PASSES, clock),
    log,
    reports,
    gates: deps.gates,
    backoff: deps.backoff,
    syncFrequencyMs: deps.syncFrequencyMs,
    deadContainersKept: runtime.settings.maximumDeadContainersPerContainer,
  };
  return (uid) => ({ ...shared, doer: doerOf(components, uid) });
}

function doerOf(
  { deps: { runtime }, cgroupWatches, records, allocations, workers }: DoerParts,
  uid: string,
): DoerOnDemand {
  const logFiles = new PodLogFiles();
  const make = (): Doer =>
    new Doer(
      runtime,
      uid,
      (pod, watchDirs) => cgroupWatches.set(pod, watchDirs),
      {
        has: (containerId) => records.isPreStopDone(uid, containerId),
        add: (containerId) => records.preStopDone(uid, containerId),
        onObserved: (observed) => records.preStopsSeen(observed),
      },
      () => allocations.actuated(uid),
      () => workers.comesBack(uid),
      logFiles,
    );
  return new DoerOnDemand(make, (observed) => records.preStopsSeen(observed));
}
