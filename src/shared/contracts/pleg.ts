// The pleg thread's contract: its control interface and the records on its two queues.
// Every record about a pod carries the pod's UID and an inspection generation; main drops and counts stale ones.

import type { ContainerImage } from "../kubernetes/api/node.js";
import type { CriChannelKind } from "../kubernetes/cri/channel-kind.js";
import type { ObservedPod, ObservedContainer } from "../kubernetes/cri/observed-pod.js";
import type { PodUid, ContainerId, SandboxId } from "../kubernetes/identifiers.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";

/** Init data of the thread. Durations are milliseconds. */
export interface PlegInit {
  /** CRI endpoint, "unix:///…". */
  endpoint: string;
  /** The image service's. */
  imageEndpoint: string;
  runtimeRequestTimeoutMs: number;
  /** Has a directory for each pod of the node, by UID. */
  podsDir: string;
  /** Gate CRIListStreaming. */
  listStreaming: boolean;
  /** Flag --cri-channel. */
  criChannel: CriChannelKind;
  /** Deadline of one pod's inspection: a hung container delays its own pod only. */
  inspectDeadlineMs: number;
  inspectConcurrency: number;
  /** Deadline of the two list calls of a relist. */
  listDeadlineMs: number;
  /** Relist period while something changes, and whenever no event source covers every pod. */
  relistActiveMs: number;
  /** Relist period when nothing changed for a while and an event source works. */
  relistIdleMs: number;
  /** Period of the CRI Status call; also how often an absent runtime is tried is derived from it. */
  statusPeriodMs: number;
  /** Try GetContainerEvents; false keeps to cgroup watches and relists. */
  useEvents: boolean;
}

/** A pod the thread should watch closely: directories in which the runtime makes and removes container cgroups. */
export interface WatchedPod {
  uid: PodUid;
  watchDirs: string[];
}

export interface PlegControl {
  /** Full set after a (re)start of the thread. */
  setWatches(pods: WatchedPod[]): void;
  /** Starts watching one more pod. */
  watch(pod: WatchedPod): void;
  /** Ends the watch of a removed pod. */
  unwatch(uid: PodUid): void;
  /** For the Node object: biggest first, at most five names each; a negative `max` means all. */
  biggestImages(max: number): Promise<ContainerImage[]>;
  metrics(): Promise<MetricSnapshot>;
}

/**
 * An object that main created or removed, so that the next inspection needs no list call. With an empty id, "recheck":
 * even exited containers may be removed; "relist": a call failed, and main does not know its effect.
 */
export type InspectHint =
  | { kind: "sandbox"; id: SandboxId }
  | { kind: "sandbox-removed"; id: SandboxId }
  | { kind: "container"; id: ContainerId }
  | { kind: "container-removed"; id: ContainerId }
  | { kind: "recheck" | "relist"; id: "" };

/** main → pleg: inspect one pod now. Coalesced by UID when the ring is full (hints are merged). */
export interface InspectRequest {
  uid: PodUid;
  /** The resulting record carries at least this generation. */
  generation: number;
  hints: InspectHint[];
}

/** State of the runtime connection. */
export interface RuntimeState {
  reachable: boolean;
  runtimeReady: boolean;
  networkReady: boolean;
  /** Runtime name from Version, e.g. "containerd"; empty before the first response. */
  name: string;
  version: string;
  /** The source of exits: the CRI event stream, or cgroup watches and relists. */
  events: boolean;
  /** Why a part is not ready; empty when all is well. */
  message: string;
  /** The runtime's Status response; absent if it does not respond. */
  details?: RuntimeDetails;
}

export interface RuntimeCondition {
  status: boolean;
  reason: string;
  message: string;
}

/** The part of the Status reply that the Node object shows. */
export interface RuntimeDetails {
  runtimeReady: RuntimeCondition;
  networkReady: RuntimeCondition;
  /** Sorted by name. */
  handlers: { name: string; recursiveReadOnlyMounts: boolean; userNamespaces: boolean }[];
  /** Absent: the runtime does not report it. */
  supplementalGroupsPolicy?: boolean;
  userNamespacesHostNetwork?: boolean;
}

/** What main gets of the records: a pod is whole. */
export type PlegRecord =
  | { kind: "pod"; observed: ObservedPod }
  /** A full relist ended. The first one of a thread has the pods of the runtime, and makes the cache complete. */
  | { kind: "relisted"; uids: PodUid[]; durationMs: number }
  | { kind: "runtime"; state: RuntimeState }
  /** An inspection failed; the pod's state is unknown until a later record. */
  | { kind: "inspect-failed"; uid: PodUid; generation: number; code: string; message: string };

/**
 * pleg → main, in the ring. A pod comes as its difference to the record before: a pod may have ten thousand containers,
 * and each of them may change alone. Its parts precede the record that ends them.
 */
export type PlegWireRecord = Exclude<PlegRecord, { kind: "pod" }> | PodPart | PodHead;

export interface PodPart {
  kind: "pod-part";
  uid: PodUid;
  /** Forget the pod's containers of earlier records. */
  fresh: boolean;
  /** New ones, and those whose status changed. */
  changed: ObservedContainer[];
  removed: ContainerId[];
}

export interface PodHead {
  kind: "pod-head";
  fresh: boolean;
  /** Number of containers that the pod has with this record. */
  total: number;
  observed: Omit<ObservedPod, "containers">;
}
