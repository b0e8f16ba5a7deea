// The eviction thread's contract: the pods it receives, the evictions it orders, the data it requests. It decides by
// its own samples (cgroup files, statfs, /proc); main carries out and has the final decision.
// Invariant: every order has the UID and generation of the pod, and main drops and counts outdated orders. One order at
// a time (of local limits: one per pod, several pods at once). The next order follows when main has reported the pods'
// termination or sent a newer generation, or after 30 s.

import type { WallTime } from "../base/clock/moments.js";
import type { EvictionSignal, EvictionThreshold } from "../kubernetes/api/eviction-threshold.js";
import type { QOSClass } from "../kubernetes/api/pod-status.js";
import type { ExactQuantity } from "../kubernetes/api/quantity.js";
import type { CriChannelKind } from "../kubernetes/cri/channel-kind.js";
import type { PodUid, ContainerId } from "../kubernetes/identifiers.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";
import { PRESSURES, type Pressure } from "./node-status.js";

/** Init data of the thread. Durations are milliseconds; names are KubeletConfiguration's. */
export interface EvictionInit {
  /**
   * evictionHard and evictionSoft with their grace periods and evictionMinimumReclaim, as parseEviction returns them.
   */
  thresholds: EvictionThreshold[];
  evictionPressureTransitionPeriodMs: number;
  /** Seconds; 0: the pod is killed at once; negative: the pod's own. */
  evictionMaxPodGracePeriod: number;
  kernelMemcgNotification: boolean;
  localStorageCapacityIsolation: boolean;
  /** enforceNodeAllocatable names "pods": then the pods' own cgroup has a limit to watch. */
  enforcePods: boolean;
  rootDir: string;
  podLogsDir: string;
  cgroupRoot: string;
  cgroupsPerQOS: boolean;
  /** For the runtime's figures of writable layers: read only if disks are short, or pods have limits. */
  containerRuntimeEndpoint: string;
  imageServiceEndpoint: string;
  runtimeRequestTimeoutMs: number;
  /** Gate CRIListStreaming. */
  listStreaming: boolean;
  /** Flag --cri-channel. */
  criChannel: CriChannelKind;
  /** Interval between two samples. */
  samplePeriodMs: number;
}

/** Bytes, in the format of messages. An absent amount is not requested, or not limited. */
export interface EvictionAmounts {
  memory?: ExactQuantity;
  ephemeralStorage?: ExactQuantity;
}

export interface EvictionContainer {
  name: string;
  requests: EvictionAmounts;
  limits: EvictionAmounts;
}

/** The data about a running pod that the thread needs: sent when it was admitted, and when its definition changes. */
export interface EvictionPod {
  uid: PodUid;
  namespace: string;
  name: string;
  /** Main's own count of this pod's definitions. */
  generation: number;
  qosClass: QOSClass;
  priority: number;
  /** Static, mirror, or of a system priority: never evicted. */
  critical: boolean;
  /** terminationGracePeriodSeconds of the pod. */
  graceSeconds: number;
  /** Requests of the pod as a whole, as upstream ranks by them. */
  requests: EvictionAmounts;
  /** The pod's own memory request (spec.resources), where it has one: messages show it. */
  podLevelMemory?: ExactQuantity;
  /** Sum of the containers' ephemeral-storage limits, by upstream's rules; absent: none has one. */
  ephemeralStorageLimit?: ExactQuantity;
  /** Init and app containers; only app containers have limits. */
  containers: EvictionContainer[];
  /** Volumes with a limit of their own, on the node's disk or in memory. */
  volumes: { name: string; path: string; memory: boolean; sizeLimit: ExactQuantity }[];
}

export interface EvictionDelta {
  set: EvictionPod[];
  /** Pods of which nothing is left that takes memory or disk: containers, volumes, cgroup. */
  ended: PodUid[];
}

export interface EvictionControl {
  /**
   * Full set after a (re)start of the thread. `orders`: the orders that main is still executing;
   * `pressures`: the thread's last report, which holds for the transition period from now on.
   */
  setPods(pods: EvictionPod[], orders: PodUid[], pressures: Pressure[]): void;
  applyPods(delta: EvictionDelta): void;
  metrics(): Promise<MetricSnapshot>;
}

/** Usage of one pod on the node's own disks, from the last walk. */
export interface PodDiskUsage {
  uid: PodUid;
  /** The moment of the measurement. */
  at: WallTime;
  /** Local volumes, by name. `apart`: a file system by itself, as in memory, which takes nothing of the node's disk. */
  volumes: { name: string; bytes: number; inodes: number; apart?: boolean }[];
  /** Container logs, by container name. */
  logs: { container: string; bytes: number; inodes: number }[];
  /** Files of the pod that are no volume: /etc/hosts and termination messages. */
  other: { bytes: number; inodes: number };
}

/** Mount points of the runtime's images, and of the containers' writable layers if the runtime reports them apart. */
export interface ImageFileSystems {
  images: string;
  containers?: string;
}

export interface EvictionUpcalls {
  /** Removes exited containers, and sandboxes of pods that no longer need them. Resolves when that is done. */
  removeDeadContainers(): Promise<void>;
  /** Removes unused images now. Rejects when the image-gc thread is away. */
  removeUnusedImages(): Promise<{ images: number; bytes: number }>;
  /**
   * The last figures of these pods. Figures older than `maxAgeMs` are measured again if a walk can end within
   * `withinMs`; the call returns after that time at the latest. A pod that was never walked is left out; started walks
   * continue.
   */
  podDisks(uids: PodUid[], maxAgeMs: number, withinMs: number): Promise<PodDiskUsage[]>;
  /**
   * Mount points by the runtime's ImageFsInfo: this thread requests them every minute, and does not load gRPC for it.
   */
  imageFileSystems(): Promise<ImageFileSystems>;
  /** Running containers of a pod that will be evicted, with their ids in the runtime. */
  runningContainers(uid: PodUid): Promise<{ name: string; id: string }[]>;
}

/** eviction → main. */
export type EvictionRecord =
  | {
      kind: "evict";
      uid: PodUid;
      generation: number;
      /** The cause, for metrics: a signal, or one of the local limits. */
      signal: EvictionSignal | LocalLimit;
      /** Grace period that the pod gets, in seconds. */
      graceSeconds: number;
      /** Status message and event text. */
      message: string;
      /** Annotations of the Evicted event. */
      annotations: Record<string, string>;
      /** Age of the sample it was judged by, ms. */
      sampleAgeMs: number;
    }
  /** All pressures that hold now; sent when they change and once after each start. Also on the board (pressureBits). */
  | { kind: "pressures"; pressures: Pressure[] }
  /** For the node's event EvictionThresholdMet: "memory", "ephemeral-storage", "inodes", "pids". */
  | { kind: "threshold-met"; resource: string }
  /** The kernel's OOM killer took a process. */
  | {
      kind: "oom";
      /** 0 and "": not known, since the kernel's log is not to be had. */
      pid: number;
      process: string;
      /** The cgroup whose limit was reached; "/": the machine's memory was out; "": not known which. */
      cgroup: string;
      /** The pod and container of the process, if known. */
      podUid?: PodUid;
      containerId?: ContainerId;
      at: WallTime;
    };

export const LOCAL_LIMITS = ["emptydirfs.limit", "ephemeralpodfs.limit", "ephemeralcontainerfs.limit"] as const;
export type LocalLimit = (typeof LOCAL_LIMITS)[number];

/** The board's word `pressures` of this thread. */
export function pressureBits(pressures: readonly Pressure[]): number {
  return pressures.reduce((bits, pressure) => bits | (1 << PRESSURES.indexOf(pressure)), 0);
}
