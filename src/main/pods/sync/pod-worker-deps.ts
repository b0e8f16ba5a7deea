// Makes the collaborators of each pod worker.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { LoopShare } from "../../../shared/base/turns/loop-share.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import { DoerOnDemand } from "../../containers/runtime/doer-on-demand.js";
import { Doer } from "../../containers/runtime/doer.js";
import type { NodeRuntime } from "../../containers/runtime/node-runtime.js";
import { PodLogFiles } from "../../containers/runtime/pod-log-files.js";
import type { BackoffOptions } from "../../model/crash-backoff.js";
import type { ProbeResults } from "../../model/probe-results.js";
import type { RestartGates } from "../../model/restart.js";
import type { AdmissionQueue } from "../admission/admission-queue.js";
import type { Resizes } from "../admission/resizes.js";
import { OverTurns } from "./over-turns.js";
import type { PassReports } from "./pass-reports.js";
import type { PodCgroupWatches } from "./pod-cgroup-watches.js";
import type { PodState } from "./pod-state.js";
import type { PodWorkerDeps } from "./pod-worker-port.js";

/** Passes at once of pods that ended before this kubelet started. */
const OVER_TURNS = 8;

interface WorkerParts {
  state: PodState;
  runtime: NodeRuntime;
  probes: ProbeResults;
  reports: PassReports;
  admission: AdmissionQueue;
  resizes: Resizes;
  cgroupWatches: PodCgroupWatches;
  share: LoopShare;
  gates: RestartGates;
  backoff: Partial<BackoffOptions>;
  syncFrequencyMs: number;
  clock: Clock;
  log: Logger;
}

export function podWorkerDeps(parts: WorkerParts): (uid: PodUid) => PodWorkerDeps {
  const { state, runtime, clock } = parts;
  const { cache, records } = state;
  const shared: Omit<PodWorkerDeps, "doer"> = {
    cache,
    probes: parts.probes,
    recorder: runtime.events,
    admission: parts.admission,
    resizes: parts.resizes,
    isCgroupLost: (pod) => runtime.cgroups.isLost(pod),
    holdsClaims: (pod) => runtime.cluster?.()?.claims.holds(pod) === true,
    keptEnd: records,
    startTime: (pod) => records.get(pod)?.startTime,
    runtime: () => cache.runtime,
    clock,
    loop: parts.share,
    overTurns: new OverTurns(OVER_TURNS),
    log: moduleLogger(parts.log, "pod-worker"),
    reports: parts.reports,
    gates: parts.gates,
    backoff: parts.backoff,
    syncFrequencyMs: parts.syncFrequencyMs,
    deadContainersKept: runtime.settings.maximumDeadContainersPerContainer,
  };
  return (uid) => ({ ...shared, doer: doerOf(parts, uid) });
}

function doerOf({ runtime, cgroupWatches, state }: WorkerParts, uid: PodUid): DoerOnDemand {
  const { records, allocations, pods } = state;
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
      () => pods.comesBack(uid),
      logFiles,
    );
  return new DoerOnDemand(make, (observed) => records.preStopsSeen(observed));
}
