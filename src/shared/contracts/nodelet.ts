// The answers behind the socket of the nodelet command, beside the routes that the ports have, too. Our own format;
// moments are milliseconds since the epoch. Every list is bounded by the number of pods, of containers, or of kept
// events.

import { join } from "node:path";
import type { ThreadState } from "../base/queue/board.js";
import type { Event } from "../kubernetes/api/event.js";
import type { NodeCondition } from "../kubernetes/api/node.js";
import type { PodUid, ContainerId } from "../kubernetes/identifiers.js";
import type { DockershimNetwork } from "./dockershim.js";
import type { NodeManifests } from "./manifest-facts.js";
import type { Pressure } from "./node-status.js";
import type { RuntimeState } from "./pleg.js";

/** Where the socket is for a kubelet with upstream's root directory. */
export const DEFAULT_ROOT_DIR = "/var/lib/kubelet";
const DEFAULT_SOCKET = "/run/nodelet/kubelet.sock";

/** The socket of a kubelet by its root directory: several kubelets on one machine have one each. */
export function adminSocketOf(rootDir: string): string {
  return rootDir === DEFAULT_ROOT_DIR ? DEFAULT_SOCKET : join(rootDir, "nodelet", "kubelet.sock");
}

/** A key that a variable or volume needs and that its object does not have. Names only: values may be secret. */
export interface MissingKeyFacts {
  key: string;
  /** "ConfigMap default/app". */
  object: string;
  /** The keys that exist, in order, at most MAX_KEYS. */
  keys: string[];
  /** Keys beyond those listed. */
  more: number;
}

/** A claim that cannot be used. */
export interface ClaimFacts {
  /** "namespace/name". */
  name: string;
  phase: string;
  /** Absent: the claim names no class. */
  storageClass?: string;
  /** The volume that the claim asks for, or has. */
  volumeName?: string;
  /** Requested bytes, as the claim has it: "1Gi". */
  size?: string;
  accessModes: string[];
}

/** What an error knows beside its message. */
export interface ErrorFacts {
  missingKey?: MissingKeyFacts;
  claim?: ClaimFacts;
}

/** Answers to a probe that count together, oldest first. */
export interface ProbeAnswer {
  text: string;
  count: number;
}

/** A container that the kubelet stopped because its liveness or startup probe failed. */
export interface ProbeKillFacts {
  container: string;
  probe: "liveness" | "startup";
  /** The runtime's id of the container that was stopped last. */
  containerId: ContainerId;
  /** Stops by probes, none of them later than CRASH_RESET_MS after the one before. */
  kills: number;
  lastAt: number;
  /** Failures in a row before the last stop. */
  inARow: number;
  answers: ProbeAnswer[];
}

/** A liveness or startup probe that has failed since its last success, and has not stopped the container. */
export interface ProbeFailingFacts {
  container: string;
  probe: "liveness" | "startup";
  containerId: ContainerId;
  lastAt: number;
  inARow: number;
  answers: ProbeAnswer[];
}

/** A set-up or teardown of one volume. */
export interface VolumeFacts extends ErrorFacts {
  name: string;
  plugin: string;
  mounted: boolean;
  /** Since when an operation runs. */
  runningSince?: number;
  lastError?: string;
  nextTryAt?: number;
}

/** A container that could not be created or started. */
interface StartFailureFacts extends ErrorFacts {
  container: string;
  reason: string;
  message: string;
  failedAt: number;
  nextTryAt: number;
  tries: number;
}

/** A mount on which calls hang. */
export interface HungMount {
  mountPoint: string;
  source: string;
  fsType: string;
  since: number;
}

/** State of a pod in the main thread that its status does not show. */
export interface PodFacts {
  uid: PodUid;
  /** State of its pod worker; absent: it has none yet. */
  worker?: string;
  /** The last sync failed. */
  retry?: { message: string; failures: number; nextTryAt: number };
  startFailures: StartFailureFacts[];
  volumes: VolumeFacts[];
  /** Absent, as the next two: the kubelet is older than this field. */
  probeKills?: ProbeKillFacts[];
  probesFailing?: ProbeFailingFacts[];
  /**
   * Containers that the kubelet stopped in order to start them again, by the runtime's id; known until the next start
   * of the kubelet.
   */
  stops?: { containerId: ContainerId; reason: string }[];
  /** When the present sandbox was created. */
  sandboxAt?: number;
  /** The pod must stop. */
  termination?: { reason: string; deadline: number };
  /** Another pod of the same name that must terminate first. */
  waitsFor?: { uid: PodUid };
}

/** State of the node in the main thread. */
export interface NodeFacts {
  startedAt: number;
  runtime?: RuntimeState;
  /** Since when the runtime is as it is: reachable, ready, network ready. */
  runtimeSince?: number;
  pressures: { type: Pressure; since: number }[];
  /** IPs of the node, the primary first. */
  addresses: string[];
  /** Resources of the node, devices of plugins too; canonical quantities. */
  capacity: Record<string, string>;
  allocatable: Record<string, string>;
  hungMounts: HungMount[];
  /** Every source has delivered once, and the runtime has been listed. */
  settled: boolean;
  /** Conditions of the Node object as the API server has it; absent on a stand-alone node and before the first. */
  conditions?: NodeCondition[];
  /**
   * The API server as main's own client sees it. Absent: on a stand-alone node, before the node has its credentials,
   * from an older kubelet.
   */
  api?: ApiAccessFacts;
  /** Absent: without --dynamic-config-dir. */
  configuration?: ConfigurationFacts;
}

export interface ApiAccessFacts {
  /** Its address. */
  server: string;
  /** The first failed call since the last that succeeded; absent: the server responds. */
  awaySince?: number;
}

/** Dynamic configuration. */
export interface ConfigurationFacts {
  /** "ConfigMap kube-system/workers/kubelet" or "local files". */
  assigned: string;
  active: string;
  lastKnownGood?: string;
  /** The active configuration has not passed its trial yet. */
  onTrial: boolean;
  error?: string;
}

export interface ThreadFacts {
  name: string;
  state: ThreadState;
  starts: number;
  /** Absent: it has not run yet. */
  lastTickMs?: number;
  loopDelayMaxMs: number;
  queued: number;
  operation?: { name: string; forMs: number };
}

export interface CertificateFacts {
  use: "serving" | "client";
  file: string;
  subject?: string;
  notBefore?: number;
  notAfter?: number;
  /** Why it cannot be read. */
  problem?: string;
}

export interface ApiServerFacts {
  /** How long one small request took. */
  tookMs?: number;
  problem?: string;
  /** The server responded, and `problem` is its refusal. Absent, too: from an older kubelet. */
  refused?: true;
}

/** The file system of the kubelet's root directory: pods' volumes and the kubelet's records. Bytes. */
export interface DiskFacts {
  path: string;
  availableBytes: number;
  capacityBytes: number;
  /** Both 0: the file system has no fixed number of inodes. */
  inodesFree: number;
  inodes: number;
}

/** The Docker Engine over which this kubelet serves CRI. */
export interface DockerFacts {
  /** "unix:///var/run/docker.sock" or "tcp://host:port". */
  endpoint: string;
  network: DockershimNetwork;
}

/** GET /nodelet/status */
export interface NodeletStatus {
  now: number;
  node: string;
  kubernetesVersion: string;
  nodeVersion: string;
  pid: number;
  rootDir: string;
  runtimeEndpoint: string;
  /** With --container-runtime=docker. */
  docker?: DockerFacts;
  threads: ThreadFacts[];
  certificates: CertificateFacts[];
  /** Absent: the file system does not respond. */
  disk?: DiskFacts;
  /** Absent: the node runs stand-alone. */
  apiServer?: ApiServerFacts;
  /** Absent: main did not respond, because of `mainProblem`. */
  facts?: NodeFacts;
  mainProblem?: string;
  devicePluginProblem: string;
  /** Those with problems; GET /nodelet/manifests has all. Absent: from an older kubelet. */
  manifests?: NodeManifests;
}

/**
 * POST /nodelet/pods/<namespace>/<name>/restart. restarting: the pod terminates and starts again under its UID. api: it
 * is the API server's. deleted: no source wants it any more, and it is being terminated.
 */
export interface RestartReply {
  result: "restarting" | "api" | "deleted";
}

/** GET /nodelet/events */
export interface NodeletEvents {
  kind: "EventList";
  apiVersion: "v1";
  items: Event[];
}

/** GET /nodelet/images: the runtime's images and who uses them. */
export interface NodeletImages {
  images: {
    id: string;
    names: string[];
    sizeBytes: number;
    pinned: boolean;
    usedBy: string[];
    /** Collection may remove it: the first has order 1. Absent: in use, pinned, or not known. */
    removal?: { order: number; lastUsedAt?: number; firstSeenAt?: number };
  }[];
  fileSystem?: { usedBytes: number; availableBytes: number; capacityBytes: number };
}
