// The interface by which the parts of the sync path use each other, and the collaborators of each pod worker. NodeSync creates the parts and
// passes itself.
import type { Pod } from "../../shared/api/pod.js";
import type { ResourceStatus, PodStatus } from "../../shared/api/pod-status.js";
import type { Clock } from "../../shared/clock/clock.js";
import { type Logger } from "../../shared/log/logger.js";
import type { LoopShare } from "../../shared/turns/loop-share.js";
import type { VolumeCalls } from "../../shared/volume-calls/volume-calls.js";
import type { AdmissionQueue } from "../admission/admission-queue.js";
import type { Resizes, ResizesDeps } from "../admission/resizes.js";
import type { Admission } from "../admission/node-admission.js";
import type { ProbeResults } from "../model/probe-results.js";
import type { ProbeManager } from "../probes/probe-manager.js";
import type { RestartGates } from "../model/restart.js";
import type { BackoffOptions } from "../model/crash-backoff.js";
import type { PlanEvents } from "../planner/plan-events.js";
import type { Allocations } from "../resources/allocation/allocations.js";
import type { NodeRuntime } from "../runtime/node-runtime.js";
import type { PodStatuses } from "../status/pod-statuses.js";
import type { PlegThread } from "../threads/pleg-thread.js";
import type { PodCache } from "./pod-cache.js";
import type { PodCgroupWatches } from "./pod-cgroup-watches.js";
import type { PodEventStream, PodSubscriber, PodSubscriberName } from "../model/pod-events.js";
import type { PodDelta } from "../model/pod-delta.js";
import type { PodRecords } from "./pod-records.js";
import type { PodWorkers } from "./pod-workers.js";

export interface NodeSyncDeps {
  runtime: NodeRuntime;
  pleg: Pick<PlegThread, "inspect" | "watch" | "unwatch">;
  probes: Pick<ProbeManager, "podSynced" | "podRemoved" | "kills"> & { results: ProbeResults };
  admission: Admission;
  /** On files of volumes. */
  calls: Pick<VolumeCalls, "call">;
  clock: Clock;
  log: Logger;
  gates: RestartGates;
  /** Absent: containers' statuses do not say. */
  resourceHealth?: (pod: Pod, container: string) => ResourceStatus[];
  backoff: Partial<BackoffOptions>;
  publish(delta: PodDelta): void;
  /** From the start on; others join by `subscribe`. */
  subscribers: Partial<Record<PodSubscriberName, PodSubscriber>>;
  resize: Pick<ResizesDeps, "counters" | "rules">;
  /** A pod without changes is synced this often, ms. */
  syncFrequencyMs: number;
  /** The loop is alive. */
  stamp(): void;
  setOp(code: number): void;
}

export interface SyncComponents {
  readonly deps: NodeSyncDeps;
  readonly events: PodEventStream;
  readonly cache: PodCache;
  readonly workers: PodWorkers;
  readonly statuses: PodStatuses;
  readonly records: PodRecords;
  readonly admission: AdmissionQueue;
  readonly resizes: Resizes;
  readonly allocations: Allocations;
  readonly cgroupWatches: PodCgroupWatches;
  readonly planEvents: PlanEvents;
  /** The share of main's event loop that the syncs of all pods take. */
  readonly share: LoopShare;
  /** Undefined until the node has joined a cluster, and on a stand-alone node. */
  readonly cluster: ClusterPods | undefined;
}

/**
 * The API server's side of pods, for the sync path. A stand-alone node has none; in a cluster it connects
 * late, since static pods do not wait for the API server.
 */
export interface ClusterPods {
  /** The status that the API server has of a pod; undefined: none, or the pod is static. */
  statusOf(uid: string): PodStatus | undefined;
  /** Pods that have ended on this node, and whose objects the API server holds back. */
  readonly heldPods: { get(uid: string): Pod | undefined; all(): Iterable<Pod> };
  /** The pod is wanted, and its definition is read when there is room for it. */
  waits(uid: string): boolean;
  readonly subscriber: PodSubscriber;
}
