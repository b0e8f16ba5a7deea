// The context of every runtime verb: the CRI connection, the node's settings, and the helpers for files and cgroups.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ResourceList } from "../../../shared/kubernetes/api/meta.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { AgentFlags } from "../../command/agent-flags.js";
import type { CgroupSettings } from "../../command/views/cgroups.js";
import type { ContainerLogSettings } from "../../command/views/container-logs.js";
import type { NetworkSettings } from "../../command/views/network.js";
import type { RuntimeSettings } from "../../command/views/runtime.js";
import type { ClusterAccess } from "../../model/cluster-access.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { HookPort } from "../../model/hook-port.js";
import type { PodTrace } from "../../model/pod-trace.js";
import type { ResourceManagers } from "../../resources/assignment/resource-manager.js";
import type { CgroupManager } from "../../resources/cgroups/cgroup-manager.js";
import type { ContainerResourceOptions } from "../../resources/container-resources.js";
import type { VolumeManager } from "../../volumes/volume-manager.js";
import type { ImagePuller } from "../images/image-puller.js";
import type { NodeDns } from "../network/pod-dns.js";
import type { UserNamespaces } from "../user-namespaces/user-namespaces.js";
import type { SandboxesAhead } from "./sandboxes-ahead.js";

/** Facts of the node that pods' configurations depend on. */
export interface NodeFacts {
  nodeName: string;
  /** As they are now, the primary first. */
  readonly nodeIPs: readonly string[];
  memoryBytes: bigint;
  cpuCount: number;
  /** Node allocatable without devices. */
  allocatable: ResourceList;
  cgroupVersion: 1 | 2;
  /** Swap accounting is available to containers. */
  swapController: boolean;
  /** Bytes. */
  hugePageSizes: bigint[];
  /** SELinux is enabled. */
  seLinux: boolean;
  /** Masked in containers: existing /sys/devices/system/cpu/cpuN/thermal_throttle directories. */
  thermalThrottlePaths: readonly string[];
  /** Limits of containers beyond those in the spec; absent: the defaults of cgroup v1. */
  containerLimits?: ContainerLimits;
}

type ContainerLimits = Pick<ContainerResourceOptions, "singleProcessOOMKill" | "cpuPeriodUs" | "swap" | "memoryQos">;

/** The settings that the runtime verbs follow. */
export type DoerSettings = Pick<AgentFlags, "rootDir" | "maximumDeadContainersPerContainer"> &
  Pick<RuntimeSettings, "seccompDefault" | "containerStopSignals" | "imageVolumeWithDigest" | "envFiles"> &
  Pick<RuntimeSettings, "changeContainerStatusOnKubeletRestart"> &
  Pick<ContainerLogSettings, "podLogsDir"> &
  Pick<NetworkSettings, "clusterDomain"> &
  Pick<CgroupSettings, "cpuCFSQuota"> & {
    /** /var/log/containers: links to the containers' logs. */
    readonly containerLogsDir: string;
    /** "v1.36.0": requests of lifecycle hooks carry it. */
    readonly kubernetesVersion: string;
  };

/** Makes images ready: see ImagePuller. */
export type ImageProvider = Pick<ImagePuller, "ensure" | "ensureVolume">;

export interface NodeRuntime {
  /** Absent on a stand-alone node. */
  cluster?: ClusterAccess | undefined;
  cri: CriClient;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  trace: PodTrace;
  /** Sends the requests of httpGet hooks. */
  hooks: HookPort;
  images: ImageProvider;
  cgroups: CgroupManager;
  volumes: VolumeManager;
  /** One limit for the sandboxes of all pods together. */
  sandboxesAhead: SandboxesAhead;
  /** CPUs, memory and devices of containers. */
  managers: Pick<ResourceManagers, "ensure" | "grant" | "preStart" | "started">;
  /** Ids of pods with hostUsers: false. */
  userNamespaces: Pick<UserNamespaces, "forPod" | "release">;
  node: NodeFacts;
  settings: DoerSettings;
  /** The node's resolver settings; the host's file is read again when it changed. */
  dns(): Promise<NodeDns>;
  metrics: RuntimeMetrics;
}

/** The metrics of the runtime verbs. */
export interface RuntimeMetrics {
  sandboxRun(durationMs: number, ok: boolean, sandbox: { handler: string; ownUsers: boolean }): void;
  /** A lifecycle request over HTTPS got a response without TLS, and was repeated without TLS. */
  httpHookFellBack(): void;
  /** A hook's sleep was cut short: its time was over. */
  sleepCutShort(): void;
  containerStarted(kind: ContainerType): void;
  containerStartFailed(kind: ContainerType, reason: string): void;
  /** A container of a pod with its own user namespace did not start in a new sandbox. */
  userNamespacedPodFailed(): void;
  /** Mounts of image volumes, of one container. */
  imageVolumes(what: "requested" | "mounted" | "failed", count: number): void;
}
type ContainerType = "container" | "init_container" | "ephemeral_container";
