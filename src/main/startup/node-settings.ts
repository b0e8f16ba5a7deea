// What a node runs with: the settings, and what the machine adds to them.
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import type { Settings } from "../command/settings.js";
import type { ShutdownGroup } from "../command/shutdown-groups.js";
import type { VerificationPolicy } from "../images/pull-records/verification-policy.js";
import type { ResizeRules } from "../resources/allocation/resize-rules.js";
import type { BackoffOptions } from "../sync/crash-backoff.js";
import type { RestartGates } from "../sync/restart.js";
import { readMachine } from "./machine.js";
import { defaultRouteInterface, nodeIPs } from "../../shared/net/host-addresses.js";

/** The settings a node runs with; durations are milliseconds. Field names are KubeletConfiguration's. */
export interface NodeSettings {
  nodeName: string;
  nodeIPs: string[];
  rootDir: string;
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
  maxPods: number;
  podsPerCore: number;
  nodeLabels: Readonly<Record<string, string>>;
  registerWithTaints: readonly { key: string; value: string; effect: string }[];
  allowedUnsafeSysctls: readonly string[];
  /** Gate PodLevelResources. */
  podLevelResources: boolean;
  resizeRules: ResizeRules;
  kubeReserved: Readonly<Record<string, string>>;
  systemReserved: Readonly<Record<string, string>>;
  /** A list of CPUs: "0-1". */
  reservedSystemCPUs: string;
  evictionHard: Readonly<Record<string, string>>;
  shutdownGroups: readonly ShutdownGroup[];
  /** Gate GracefulNodeShutdownBasedOnPodPriority. */
  shutdownTimes: boolean;
  /** userNamespaces.idsPerPod. */
  idsPerPod: number;
  /** Gate ContainerStopSignals. */
  containerStopSignals: boolean;
  /** Gate EnvFiles. */
  envFiles: boolean;
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
  memoryBytes: bigint;
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
