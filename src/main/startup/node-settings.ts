// What a node runs with: the settings, and what the machine adds to them.
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { Settings } from "../command/settings.js";
import type { ShutdownGroup } from "../command/shutdown-groups.js";
import type { VerificationPolicy } from "../images/pull-records/verification-policy.js";
import type { ManagerSettings } from "../resources/managers/create-managers.js";
import type { ResizeRules } from "../resources/allocation/resize-rules.js";
import type { BackoffOptions } from "../sync/crash-backoff.js";
import type { RestartGates } from "../sync/plan/restart.js";
import { readMachine } from "./process/machine.js";
import { defaultRouteInterface, nodeIPs } from "../../shared/net/host-addresses.js";

/** The settings a node runs with; durations are milliseconds. Field names are KubeletConfiguration's. */
export interface NodeSettings extends ManagerSettings {
  nodeName: string;
  /** As the machine has them; those that count are the Node's, once it is seen: HostIPs. */
  nodeIPs: string[];
  podLogsDir: string;
  /** Bytes. */
  containerLogMaxSize: number;
  containerLogMaxFiles: number;
  containerLogMaxWorkers: number;
  containerLogMonitorIntervalMs: number;
  containerLogsDir: string;
  containerRuntimeEndpoint: string;
  runtimeRequestTimeoutMs: number;
  serializeImagePulls: boolean;
  maxParallelImagePulls: number | undefined;
  registryPullQPS: number;
  registryBurst: number;
  kubeletEnsureSecretPulledImages: boolean;
  imagePullCredentialsVerificationPolicy: VerificationPolicy;
  preloadedImagesVerificationAllowlist: readonly string[];
  imageCredentialProviderConfig: string;
  imageCredentialProviderBinDir: string;
  kubeletServiceAccountTokenForCredentialProviders: boolean;
  minimumContainerTTLMs: number;
  /** Negative: no limit, as below. */
  maximumDeadContainersPerContainer: number;
  maximumDeadContainers: number;
  cgroupRoot: string;
  cgroupDriver: "cgroupfs" | "systemd";
  cgroupsPerQOS: boolean;
  podPidsLimit: bigint;
  cpuCFSQuota: boolean;
  cpuCFSQuotaPeriodMs: number;
  /** undefined: as the cgroup version has it. */
  singleProcessOOMKill: boolean | undefined;
  swapBehavior: "NoSwap" | "LimitedSwap";
  /** Gate MemoryQoS; undefined: off. */
  memoryQos: { readonly throttlingFactor: number; readonly reserve: boolean } | undefined;
  /** Percent; undefined: nothing is kept. */
  qosReservedMemory: number | undefined;
  /** Gate KubeletInUserNamespace. */
  kubeletInUserNamespace: boolean;
  protectKernelDefaults: boolean;
  kubeletCgroups: string;
  systemCgroups: string;
  enforceNodeAllocatable: readonly string[];
  systemReservedCgroup: string;
  kubeReservedCgroup: string;
  maxPods: number;
  podsPerCore: number;
  nodeLabels: Readonly<Record<string, string>>;
  registerWithTaints: readonly { key: string; value: string; effect: string }[];
  allowedUnsafeSysctls: readonly string[];
  /** Gate PodLevelResources. */
  podLevelResources: boolean;
  resizeRules: ResizeRules;
  shutdownGroups: readonly ShutdownGroup[];
  /** Gate GracefulNodeShutdownBasedOnPodPriority. */
  shutdownTimes: boolean;
  /** userNamespaces.idsPerPod. */
  idsPerPod: number;
  /** Gate ContainerStopSignals. */
  containerStopSignals: boolean;
  /** Gate PreventStaticPodAPIReferences. */
  preventStaticPodAPIReferences: boolean;
  /** Gate EnvFiles. */
  envFiles: boolean;
  /** Gate ResourceHealthStatus. */
  resourceHealthStatus: boolean;
  /** Gate KubeletPodResourcesListUseActivePods. */
  podResourcesListUseActivePods: boolean;
  seccompDefault: boolean;
  restartGates: RestartGates;
  crashLoopBackOff: Pick<BackoffOptions, "baseMs" | "maxMs">;
  staticPodPath: string;
  staticPodURL: string;
  staticPodURLHeader: Record<string, string[]>;
  fileCheckFrequencyMs: number;
  httpCheckFrequencyMs: number;
  syncFrequencyMs: number;
  /** "" turns host look-ups off. */
  resolvConf: string;
  clusterDNS: string[];
  clusterDomain: string;
  cpuCount: number;
  kubernetesVersion: string;
}

export async function nodeSettingsOf(
  settings: Settings,
  name: string,
  containerLogsDir: string,
): Promise<NodeSettings> {
  const routes = await readFile("/proc/net/route", "utf8").catch(() => "");
  const machine = readMachine();
  return {
    ...settings,
    nodeName: name,
    nodeIPs: nodeIPs(settings.nodeIPs, networkInterfaces(), defaultRouteInterface(routes)),
    containerLogsDir,
    podPidsLimit: BigInt(settings.podPidsLimit),
    memoryBytes: BigInt(machine.memoryBytes),
    cpuCount: machine.cpus,
  };
}
