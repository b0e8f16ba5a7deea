// The control interface of the threads that serve HTTP. Each serves pods from its own copy, so /pods works even while
// main is stuck. After every (re)start main calls startPods, sends all pods in pieces (applyPods), calls openPorts,
// then sends changes, in order.

import type { NodeConfigFiles } from "../kubernetes/api/client/kubeconfig/node-config.js";
import type { Event } from "../kubernetes/api/event.js";
import type { TlsVersion } from "../kubernetes/api/tls-names.js";
import type { CriChannelKind } from "../kubernetes/cri/channel-kind.js";
import type { PodUid } from "../kubernetes/identifiers.js";
import type { MetricSnapshot } from "../telemetry/metrics/snapshot.js";
import type { PodDiskUsage } from "./eviction.js";
import type { UnusedImage } from "./image-gc.js";
import type { NodeManifests } from "./manifest-facts.js";
import type { ManifestCall, ManifestReply } from "./manifests.js";
import type { DockerFacts, NodeFacts, PodFacts, RestartReply } from "./nodelet.js";
import type { PodTimeline } from "./timeline.js";

/** Threads that serve HTTP. The ports in the init data decide what each one serves (docs/adr/0081). */
export type ServerThreadName = "server" | "secure-server";

export interface ListenAddress {
  address: string;
  port: number;
}

/** Calls from main to a server's thread. */
export interface ServerControl {
  /** After a start or restart of the thread: all pods come again. */
  startPods(): void;
  /** The thread has all pods, or main no longer waits for the rest: opens the ports that show pods. */
  openPorts(): void;
  /** Pods that are new or changed, and the UIDs of removed ones. */
  applyPods(delta: PodsDelta): void;
  /** The new content of /configz. */
  setConfigz(bodies: ConfigzBodies): void;
  /** Why device plugins cannot register with the kubelet; "": they can. For /healthz/device-plugin. */
  setDevicePluginProblem(problem: string): void;
  /** The manifests of static pods, with what is wrong with them. */
  setManifests(list: NodeManifests): void;
  /** Addresses of the thread's listeners, once each has been tried; a listener that is off or failed is absent. */
  listening(): Promise<Listening>;
  /** What the thread has counted itself: without process_* and other figures that each page reads anew. */
  metrics(): Promise<MetricSnapshot>;
}

export interface PodsDelta {
  set: PodText[];
  removed: PodUid[];
}

/** As text: a clone of the objects of a pod with thousands of mounts takes main several times as long. */
export interface PodText {
  uid: PodUid;
  /** JSON. */
  status: string;
  /**
   * Absent: only the status has changed. `text`: JSON of an object with metadata and spec; of a large pod its bytes,
   * which the thread takes over.
   */
  definition?: { name: string; namespace: string; isDeleting: boolean; text: string | Uint8Array<ArrayBuffer> };
}

export interface Listening {
  /** Absent, too, while there is no serving certificate yet. */
  secure?: ListenAddress;
  /** Address of the status page (--status-page-port). */
  page?: ListenAddress;
  readOnly?: ListenAddress;
  healthz?: ListenAddress;
}

/** The requests that a server's thread may send to main. */
export interface ServerUpcalls {
  /** Resolves when the asking thread has each change of a pod so far; main collects changes for a moment otherwise. */
  sendPods(): Promise<void>;
  /** Snapshots of main and of every other thread but the asking one. */
  collectMetrics(): Promise<MetricSnapshot[]>;
  /** The newest pod of that name; undefined: not known. */
  timeline(namespace: string, name: string): Promise<PodTimeline | undefined>;
  /** The mirror pod in the API of the static pod of that name; undefined: there is none. */
  mirrorUid(namespace: string, name: string): Promise<PodUid | undefined>;
  /** The content of /metrics/probes. */
  collectProbeMetrics(): Promise<MetricSnapshot[]>;
  /** The newest figures of these pods; those older than `maxAgeMs` are measured again in the background. */
  podDisks(uids: PodUid[], maxAgeMs: number): Promise<PodDiskUsage[]>;
  /** The value of -v from now on, for every thread. */
  setVerbosity(verbosity: number): void;
  /** For the nodelet command. */
  nodeFacts(): Promise<NodeFacts>;
  /** The newest pod of that name; undefined: main does not know it. */
  podFacts(namespace: string, name: string): Promise<PodFacts | undefined>;
  /** State of each pod that its status does not show. */
  allPodFacts(): Promise<Record<PodUid, PodFacts>>;
  /** Terminates a static pod and starts it again; undefined: main does not know it. */
  restartPod(namespace: string, name: string): Promise<RestartReply | undefined>;
  /** Since when each pod is on this node, ms since the epoch. */
  podStarts(): Promise<Record<PodUid, number>>;
  /** The kept events, least recently recorded first. `about`: UID of the object, whose newest ones are wanted. */
  events(about?: string): Promise<Event[]>;
  /** In the order in which collection removes them. */
  unusedImages(): Promise<UnusedImage[]>;
  /** A call of the manifest API. */
  manifests(call: ManifestCall): Promise<ManifestReply>;
}

/** Content of /configz, JSON: `{"kubeletconfig": …}` with secrets, and the same with `"origins"`, secrets masked. */
export interface ConfigzBodies {
  plain: string;
  withOrigins: string;
}

export interface ServerInit {
  /** IP the read-only port listens on. */
  address: string;
  /** 0 = off. */
  readOnlyPort: number;
  /** false: the read-only port serves metrics and health, and no texts of pods. Absent: true. */
  readOnlyPods?: boolean;
  healthzBindAddress: string;
  /** 0 = off. */
  healthzPort: number;
  /** The sync loop is unhealthy when it was not entered for this long: max(2 × syncFrequency, 5 min). */
  syncLoopMaxAgeMs: number;
  /** The value of setDevicePluginProblem. */
  devicePluginProblem: string;
  /** The value of setManifests. */
  manifests: NodeManifests;
  nodeName: string;
  configz: ConfigzBodies;
  runtime: RuntimeInit;
  stats: StatsInit;
  /** Absent: enableServer is false. */
  secure?: SecureInit;
  /** Absent: --admin-socket=none. */
  admin?: AdminInit;
  /** Absent: the status page is off. */
  page?: PageInit;
}

/** The status page. */
export interface PageInit {
  /** Served on the authenticated port. */
  secure: boolean;
  /** On 127.0.0.1 without authentication; 0: off. */
  loopbackPort: number;
  handlers: HandlerInit;
  certificates: CertificateFile[];
  /** Absent: stand-alone. */
  api?: NodeConfigFiles;
}

export interface CertificateFile {
  use: "serving" | "client";
  file: string;
}

/** The socket of the nodelet command. */
export interface AdminInit {
  socket: string;
  /** Name or number of the group whose members may connect, beside root; "": none. */
  group: string;
  /** The kubelet's root directory: its folders above the socket may be opened to the group. */
  rootDir: string;
  handlers: HandlerInit;
  certificates: CertificateFile[];
  /** Absent: stand-alone. */
  api?: NodeConfigFiles;
}

interface RuntimeInit {
  endpoint: string;
  /** Endpoint of the image service; equals `endpoint` where the runtime serves its images, too. */
  imageEndpoint: string;
  requestTimeoutMs: number;
  /** Gate CRIListStreaming. */
  listStreaming: boolean;
  /** Flag --cri-channel. */
  criChannel: CriChannelKind;
  /** With --container-runtime=docker. */
  docker?: DockerFacts;
}

/**
 * Settings of /stats/summary, /metrics/resource and /metrics/cadvisor; named as in KubeletConfiguration and the flags.
 */
export interface StatsInit {
  rootDir: string;
  podLogsDir: string;
  cgroupRoot: string;
  cgroupsPerQOS: boolean;
  kubeletCgroups: string;
  runtimeCgroups: string;
  systemCgroups: string;
  /** CRI endpoint, to find the runtime's process. */
  runtimeEndpoint: string;
  /** Interval between two measurements of volumes; 0 and less: never. */
  volumeStatsAggPeriodMs: number;
  localStorageCapacityIsolation: boolean;
  /** The feature gate: figures of pods come from the runtime if it reports them. */
  podAndContainerStatsFromCRI: boolean;
}

/** As an API client's: qps 0 is 5, below 0 is no limit; burst 0 is 10. */
export interface ReviewLimits {
  qps: number;
  burst: number;
}

/** Settings of the routes that only trusted clients reach; names are KubeletConfiguration's. */
export interface HandlerInit {
  enableDebuggingHandlers: boolean;
  enableSystemLogHandler: boolean;
  enableSystemLogQuery: boolean;
  enableProfilingHandler: boolean;
  enableDebugFlagsHandler: boolean;
  /** A stream on which nothing has moved for so long is closed. */
  streamingConnectionIdleTimeoutMs: number;
  podLogsDir: string;
  /** Directory of CheckpointContainer's archives. */
  checkpointsDir: string;
  gates: {
    podLogsQuerySplitStreams: boolean;
    containerCheckpoint: boolean;
    componentFlagz: boolean;
    componentStatusz: boolean;
    extendWebSocketsToKubelet: boolean;
  };
  /**
   * For /flagz: every flag with its value, credentials too, as upstream. Clients that may read it may also read
   * /configz.
   */
  flags: readonly { readonly name: string; readonly value: string }[];
  kubernetesVersion: string;
  /** --manifest-api */
  manifestApi: boolean;
}

/** The authenticated port; names are KubeletConfiguration's. */
export interface SecureInit extends HandlerInit {
  port: number;
  tls: ServingTls;
  authentication: AuthenticationInit;
  authorization: AuthorizationInit;
  /** For the reviews of tokens and access; absent: stand-alone, there are none. */
  api?: NodeConfigFiles;
  /** Rate limit for reviews of one kind: kubeAPIQPS and kubeAPIBurst. */
  reviews: ReviewLimits;
}

export interface ServingTls {
  /** PEM files, read again when they change; the port opens when both are there. */
  certFile: string;
  keyFile: string;
  minVersion: TlsVersion;
  /** OpenSSL's names, without those of TLS 1.3, which are always offered; empty: OpenSSL's choice. */
  ciphers: readonly string[];
  /** OpenSSL's names; empty: OpenSSL's choice. */
  curves: readonly string[];
}

export interface AuthenticationInit {
  anonymous: boolean;
  /** "": client certificates are not requested. */
  clientCAFile: string;
  webhook: boolean;
  cacheTTLMs: number;
}

export interface AuthorizationInit {
  mode: "AlwaysAllow" | "Webhook";
  cacheAuthorizedTTLMs: number;
  cacheUnauthorizedTTLMs: number;
}
