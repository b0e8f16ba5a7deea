// The collaborators of a pod worker.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { LoopShare } from "../../../shared/base/turns/loop-share.js";
import type { RuntimeState } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { DoerOnDemand } from "../../containers/runtime/doer-on-demand.js";
import type { BackoffOptions } from "../../model/crash-backoff.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { ProbeResults } from "../../model/probe-results.js";
import type { RestartGates } from "../../model/restart.js";
import type { AdmissionQueue } from "../admission/admission-queue.js";
import type { Resizes } from "../admission/resizes.js";
import type { OverTurns } from "./over-turns.js";
import type { PassReports } from "./pass-reports.js";
import type { PodCache } from "./pod-cache.js";
import type { PodRecords } from "./pod-records.js";

type PodWorkerReports = Pick<
  PassReports,
  | "onAdmitted"
  | "prepare"
  | "onSynced"
  | "isFinal"
  | "onPass"
  | "onEnding"
  | "onTerminating"
  | "onLeft"
  | "onTerminated"
  | "onFinished"
>;

export interface PodWorkerDeps {
  cache: PodCache;
  probes: ProbeResults;
  doer: Pick<DoerOnDemand, "execute" | "onObserved" | "stop" | "rest">;
  reports: PodWorkerReports;
  recorder: EventRecorder;
  admission: Pick<AdmissionQueue, "admit">;
  /** Devices of the pod's ResourceClaims are not given back yet. */
  holdsClaims(pod: Pod): boolean;
  /** Persists the deadline of a completed pod's sidecars. */
  keptEnd: Pick<PodRecords, "endDeadline" | "keepEndDeadline">;
  /** Containers of the pod run outside the pod's cgroup. */
  isCgroupLost(pod: Pod): Promise<boolean>;
  /** RFC 3339, when this node accepted the pod. */
  startTime(uid: PodUid): string | undefined;
  resizes: Pick<Resizes, "view" | "onStarted" | "onResized" | "onFailed">;
  /** The last status of the runtime. */
  runtime(): RuntimeState | undefined;
  clock: Clock;
  /** Shares the event loop between the passes of all pods. */
  loop: Pick<LoopShare, "turn" | "laterTurn">;
  /**
   * Passes of pods that ended before this kubelet started: thousands of them must not fill the thread pool that the
   * others need.
   */
  overTurns: Pick<OverTurns, "add">;
  log: Logger;
  /** Back-off of crashing containers; a missing value means the standard one. */
  backoff: Partial<BackoffOptions>;
  gates: RestartGates;
  /** Number of exited containers of a name that stay; negative: all. */
  deadContainersKept: number;
  /** A pod without changes is synced this often, ms. */
  syncFrequencyMs: number;
}
