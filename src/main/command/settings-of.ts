// What the start-up needs of a valid configuration, as plain members: names are KubeletConfiguration's, durations are
// milliseconds (their names end in Ms).
import { isIP } from "node:net";
import { parsePercentage } from "../../shared/api/percentage.js";
import { TLS_CIPHERS, TLS_CURVES, TLS_VERSIONS, type TlsVersion } from "../../shared/api/tls-names.js";
import type { AuthenticationInit, AuthorizationInit, SecureInit } from "../../shared/contracts/server.js";
import { VERIFICATION_POLICIES, type VerificationPolicy } from "../images/pull-records/verification-policy.js";
import type { AgentFlags } from "./agent-flags.js";
import { flagValues, type CommandLine } from "./command-line.js";
import { withoutEffect } from "./config/without-effect.js";
import { value as wholeUnits } from "../../shared/api/quantity.js";
import type { EffectiveConfig } from "./config/effective.js";
import type { FieldPath, FieldValue } from "./config/fields.js";
import type { ResolvedConfig } from "./config/resolve-config.js";
import { splitNodeIPs } from "./rules/flags.js";
import type { ResizeRules } from "../resources/allocation/resize-rules.js";
import type { BackoffOptions } from "../sync/crash-backoff.js";
import type { RestartGates } from "../sync/plan/restart.js";
import { shutdownGroups, type ShutdownGroup } from "./shutdown-groups.js";
import type { ModuleVerbosity, Taint, MemoryReservation } from "./value-types.js";
import { KUBERNETES_VERSION } from "./version.js";

/** Before the second restart of a crashing container comes baseMs; each further one waits twice as long, up to maxMs. */
type CrashLoopBackOff = Pick<BackoffOptions, "baseMs" | "maxMs">;
const TOPOLOGY_POLICIES = ["none", "best-effort", "restricted", "single-numa-node"] as const;
type TopologyPolicyName = (typeof TOPOLOGY_POLICIES)[number];
type StringMap = Readonly<Record<string, string>>;

export interface Settings extends AgentFlags {
  /** The whole configuration, every value with its origin. */
  readonly config: EffectiveConfig;
  /** The files it was read from: that of --config first, then drop-ins in the order of merging. */
  readonly configFiles: readonly string[];
  /** Every flag with its value, secrets masked, for the start-up log. */
  readonly flags: readonly { readonly name: string; readonly value: string }[];
  /** The version to report: ours, or what --version=v… puts in its place. */
  readonly kubernetesVersion: string;
  /** Lines for the log, once there is one: deprecated flags and fields, what is accepted but does nothing yet. */
  readonly notices: readonly string[];

  readonly nodeIPs: string[];
  readonly containerRuntimeEndpoint: string;
  readonly imageServiceEndpoint: string;
  readonly runtimeRequestTimeoutMs: number;
  readonly staticPodPath: string;
  readonly staticPodURL: string;
  readonly staticPodURLHeader: Record<string, string[]>;
  readonly fileCheckFrequencyMs: number;
  readonly httpCheckFrequencyMs: number;
  readonly syncFrequencyMs: number;
  /** The sync loop counts as stuck when it was not entered for this long. */
  readonly syncLoopMaxAgeMs: number;
  readonly podLogsDir: string;
  /** Bytes. */
  readonly containerLogMaxSize: number;
  readonly containerLogMaxFiles: number;
  readonly containerLogMaxWorkers: number;
  readonly containerLogMonitorIntervalMs: number;

  readonly enableServer: boolean;
  readonly address: string;
  readonly port: number;
  /** 0: off, as are the other ports. */
  readonly readOnlyPort: number;
  readonly serverTLSBootstrap: boolean;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly tlsMinVersion: TlsVersion;
  /** tlsCipherSuites as OpenSSL names them; empty: its choice. */
  readonly tlsCiphers: readonly string[];
  /** tlsCurvePreferences as OpenSSL names them; empty: its choice. */
  readonly tlsCurves: readonly string[];
  readonly authentication: AuthenticationInit;
  readonly authorization: AuthorizationInit;
  readonly enableDebuggingHandlers: boolean;
  readonly enableSystemLogHandler: boolean;
  readonly enableSystemLogQuery: boolean;
  readonly enableProfilingHandler: boolean;
  readonly enableDebugFlagsHandler: boolean;
  readonly streamingConnectionIdleTimeoutMs: number;
  readonly serverGates: SecureInit["gates"];
  readonly healthzPort: number;
  readonly healthzBindAddress: string;

  readonly cgroupRoot: string;
  readonly cgroupDriver: "cgroupfs" | "systemd";
  readonly cgroupsPerQOS: boolean;
  readonly kubeletCgroups: string;
  readonly systemCgroups: string;
  readonly failSwapOn: boolean;
  readonly failCgroupV1: boolean;
  readonly protectKernelDefaults: boolean;
  readonly oomScoreAdj: number;
  readonly maxOpenFiles: number;

  /** Resources by name as given; parsed by rules/parse-reserved.ts. */
  readonly systemReserved: StringMap;
  readonly kubeReserved: StringMap;
  readonly systemReservedCgroup: string;
  readonly kubeReservedCgroup: string;
  readonly reservedSystemCPUs: string;
  readonly reservedMemory: readonly MemoryReservation[];
  readonly cpuManagerPolicy: "none" | "static";
  readonly cpuManagerPolicyOptions: StringMap;
  readonly cpuManagerReconcilePeriodMs: number;
  /** Gate DisableCPUQuotaWithExclusiveCPUs. */
  readonly disableCPUQuotaWithExclusiveCPUs: boolean;
  /** Gate PodLevelResourceManagers. */
  readonly podLevelResourceManagers: boolean;
  readonly memoryManagerPolicy: "None" | "Static";
  readonly topologyManagerPolicy: TopologyPolicyName;
  readonly topologyManagerScope: "container" | "pod";
  readonly topologyManagerPolicyOptions: StringMap;
  readonly enforceNodeAllocatable: readonly string[];
  /** Thresholds by signal as given; parsed by rules/parse-eviction.ts. */
  readonly evictionHard: StringMap;
  readonly evictionSoft: StringMap;
  readonly evictionSoftGracePeriod: StringMap;
  readonly evictionMinimumReclaim: StringMap;
  readonly evictionPressureTransitionPeriodMs: number;
  /** Seconds. */
  readonly evictionMaxPodGracePeriod: number;

  /** Lowest priority first; empty: the node's shutdown is not held back for pods. */
  readonly shutdownGroups: readonly ShutdownGroup[];
  /** Gate GracefulNodeShutdownBasedOnPodPriority: when the last shutdown was is kept and shown. */
  readonly shutdownTimes: boolean;

  readonly clusterDNS: string[];
  readonly clusterDomain: string;
  /** "": no file of the host. */
  readonly resolvConf: string;
  readonly maxPods: number;
  readonly podsPerCore: number;
  readonly allowedUnsafeSysctls: readonly string[];
  /** The gate of this name. */
  readonly podLevelResources: boolean;
  /** Which resizes can never be, by gates, managers' policies and swap. */
  readonly resizeRules: ResizeRules;
  readonly podPidsLimit: number;
  readonly cpuCFSQuota: boolean;
  readonly cpuCFSQuotaPeriodMs: number;
  /** undefined: as the cgroup version has it. */
  readonly singleProcessOOMKill: boolean | undefined;
  /** memorySwap.swapBehavior */
  readonly swapBehavior: "NoSwap" | "LimitedSwap";
  /** Gate MemoryQoS with its settings; undefined: off. */
  readonly memoryQos: { readonly throttlingFactor: number; readonly reserve: boolean } | undefined;
  /** qosReserved of memory, in percent, with its gate; undefined: nothing is kept. */
  readonly qosReservedMemory: number | undefined;
  /** The gate of this name. */
  readonly kubeletInUserNamespace: boolean;
  /** userNamespaces.idsPerPod. */
  readonly idsPerPod: number;
  /** Gate ContainerStopSignals. */
  readonly containerStopSignals: boolean;
  /** Gate PreventStaticPodAPIReferences. */
  readonly preventStaticPodAPIReferences: boolean;
  /** Gate EnvFiles. */
  readonly envFiles: boolean;
  /** Gate ResourceHealthStatus. */
  readonly resourceHealthStatus: boolean;
  /** Gate KubeletPodResourcesListUseActivePods. */
  readonly podResourcesListUseActivePods: boolean;
  readonly seccompDefault: boolean;
  readonly restartGates: RestartGates;
  readonly crashLoopBackOff: CrashLoopBackOff;
  readonly serializeImagePulls: boolean;
  /** undefined: no bound of its own. */
  readonly maxParallelImagePulls: number | undefined;
  /** 0: no limit. */
  readonly registryPullQPS: number;
  readonly registryBurst: number;
  /** The gate of this name. */
  readonly kubeletEnsureSecretPulledImages: boolean;
  readonly imagePullCredentialsVerificationPolicy: VerificationPolicy;
  readonly preloadedImagesVerificationAllowlist: string[];
  /** The gate of this name. */
  readonly kubeletServiceAccountTokenForCredentialProviders: boolean;
  readonly imageMinimumGCAgeMs: number;
  /** 0: no limit. */
  readonly imageMaximumGCAgeMs: number;
  readonly imageGCHighThresholdPercent: number;
  readonly imageGCLowThresholdPercent: number;

  readonly registerNode: boolean;
  readonly registerWithTaints: readonly Taint[];
  readonly providerID: string;
  readonly rotateCertificates: boolean;
  readonly nodeStatusUpdateFrequencyMs: number;
  readonly nodeStatusReportFrequencyMs: number;
  readonly nodeLeaseDurationSeconds: number;

  readonly verbosity: number;
  readonly vmodule: readonly ModuleVerbosity[];
  readonly logFormat: "text" | "json";
  readonly logFlushFrequencyMs: number;
}

/** Upstream's limit of the sync loop's age: twice the sync frequency, five minutes at least. */
const SYNC_LOOP_MIN_AGE_MS = 5 * 60_000;
const SECOND = 1000;
const DEFAULT_IDS_PER_POD = 65_536;

export function settingsOf(line: CommandLine, agent: AgentFlags, { config, files, notices }: ResolvedConfig): Settings {
  const text = (path: PathOf<string>): string => config.get(path) ?? "";
  const number = (path: PathOf<number>): number => config.get(path) ?? 0;
  const bool = (path: PathOf<boolean>): boolean => config.get(path) ?? false;
  const texts = (path: PathOf<string[]>): string[] => config.get(path) ?? [];
  const map = (path: PathOf<StringMap>): StringMap => config.get(path) ?? {};
  /** A time between two rounds: a flag's 0 would never rest, so it stands for the default as a file's does. */
  const rest = (path: PathOf<number>, standard: number): number => (number(path) > 0 ? number(path) : standard);
  const runtime = withScheme(text("containerRuntimeEndpoint"));
  const imageService = text("imageServiceEndpoint");
  const syncFrequencyMs = rest("syncFrequency", 60 * SECOND);
  return {
    ...agent,
    config,
    configFiles: files,
    flags: flagValues(line),
    kubernetesVersion: line.reportedVersion ?? KUBERNETES_VERSION,
    notices: [...line.deprecations, ...notices, ...withoutEffect(config)],

    nodeIPs: splitNodeIPs(agent.nodeIP),
    containerRuntimeEndpoint: runtime,
    imageServiceEndpoint: imageService === "" ? runtime : withScheme(imageService),
    runtimeRequestTimeoutMs: rest("runtimeRequestTimeout", 120 * SECOND),
    staticPodPath: text("staticPodPath"),
    staticPodURL: text("staticPodURL"),
    staticPodURLHeader: config.get("staticPodURLHeader") ?? {},
    fileCheckFrequencyMs: rest("fileCheckFrequency", 20 * SECOND),
    httpCheckFrequencyMs: rest("httpCheckFrequency", 20 * SECOND),
    syncFrequencyMs,
    syncLoopMaxAgeMs: Math.max(2 * syncFrequencyMs, SYNC_LOOP_MIN_AGE_MS),
    podLogsDir: text("podLogsDir"),
    containerLogMaxSize: Number(wholeUnits(text("containerLogMaxSize"))),
    containerLogMaxFiles: number("containerLogMaxFiles"),
    containerLogMaxWorkers: number("containerLogMaxWorkers"),
    containerLogMonitorIntervalMs: number("containerLogMonitorInterval"),

    enableServer: bool("enableServer"),
    address: text("address"),
    port: number("port"),
    readOnlyPort: number("readOnlyPort"),
    serverTLSBootstrap: bool("serverTLSBootstrap"),
    tlsCertFile: text("tlsCertFile"),
    tlsPrivateKeyFile: text("tlsPrivateKeyFile"),
    tlsMinVersion: TLS_VERSIONS.get(text("tlsMinVersion")) ?? "TLSv1.2",
    tlsCiphers: texts("tlsCipherSuites").flatMap((name) => TLS_CIPHERS.get(name) ?? []),
    tlsCurves: (config.get("tlsCurvePreferences") ?? []).flatMap((id) => TLS_CURVES.get(id)?.openssl ?? []),
    authentication: {
      anonymous: bool("authentication.anonymous.enabled"),
      clientCAFile: text("authentication.x509.clientCAFile"),
      webhook: bool("authentication.webhook.enabled"),
      cacheTTLMs: number("authentication.webhook.cacheTTL"),
    },
    authorization: {
      mode: text("authorization.mode") === "AlwaysAllow" ? "AlwaysAllow" : "Webhook",
      cacheAuthorizedTTLMs: number("authorization.webhook.cacheAuthorizedTTL"),
      cacheUnauthorizedTTLMs: number("authorization.webhook.cacheUnauthorizedTTL"),
    },
    enableDebuggingHandlers: bool("enableDebuggingHandlers"),
    enableSystemLogHandler: bool("enableSystemLogHandler"),
    enableSystemLogQuery: bool("enableSystemLogQuery"),
    enableProfilingHandler: bool("enableProfilingHandler"),
    enableDebugFlagsHandler: bool("enableDebugFlagsHandler"),
    streamingConnectionIdleTimeoutMs: rest("streamingConnectionIdleTimeout", 4 * 3600 * SECOND),
    serverGates: {
      podLogsQuerySplitStreams: config.gate("PodLogsQuerySplitStreams"),
      containerCheckpoint: config.gate("ContainerCheckpoint"),
      componentFlagz: config.gate("ComponentFlagz"),
      componentStatusz: config.gate("ComponentStatusz"),
      extendWebSocketsToKubelet: config.gate("ExtendWebSocketsToKubelet"),
    },
    healthzPort: number("healthzPort"),
    healthzBindAddress: text("healthzBindAddress"),

    cgroupRoot: text("cgroupRoot"),
    cgroupDriver: text("cgroupDriver") === "systemd" ? "systemd" : "cgroupfs",
    cgroupsPerQOS: bool("cgroupsPerQOS"),
    kubeletCgroups: text("kubeletCgroups"),
    systemCgroups: text("systemCgroups"),
    failSwapOn: bool("failSwapOn"),
    failCgroupV1: bool("failCgroupV1"),
    protectKernelDefaults: bool("protectKernelDefaults"),
    oomScoreAdj: number("oomScoreAdj"),
    maxOpenFiles: number("maxOpenFiles"),

    systemReserved: map("systemReserved"),
    kubeReserved: map("kubeReserved"),
    systemReservedCgroup: text("systemReservedCgroup"),
    kubeReservedCgroup: text("kubeReservedCgroup"),
    reservedSystemCPUs: text("reservedSystemCPUs"),
    reservedMemory: config.get("reservedMemory") ?? [],
    cpuManagerPolicy: text("cpuManagerPolicy") === "static" ? "static" : "none",
    cpuManagerPolicyOptions: map("cpuManagerPolicyOptions"),
    cpuManagerReconcilePeriodMs: rest("cpuManagerReconcilePeriod", 10 * SECOND),
    disableCPUQuotaWithExclusiveCPUs: config.gate("DisableCPUQuotaWithExclusiveCPUs"),
    podLevelResourceManagers: config.gate("PodLevelResourceManagers"),
    memoryManagerPolicy: text("memoryManagerPolicy") === "Static" ? "Static" : "None",
    topologyManagerPolicy: TOPOLOGY_POLICIES.find((name) => name === text("topologyManagerPolicy")) ?? "none",
    topologyManagerScope: text("topologyManagerScope") === "pod" ? "pod" : "container",
    topologyManagerPolicyOptions: map("topologyManagerPolicyOptions"),
    enforceNodeAllocatable: texts("enforceNodeAllocatable"),
    evictionHard: map("evictionHard"),
    evictionSoft: map("evictionSoft"),
    evictionSoftGracePeriod: map("evictionSoftGracePeriod"),
    evictionMinimumReclaim: map("evictionMinimumReclaim"),
    evictionPressureTransitionPeriodMs: number("evictionPressureTransitionPeriod"),
    evictionMaxPodGracePeriod: number("evictionMaxPodGracePeriod"),

    shutdownGroups: shutdownGroups({
      shutdownGracePeriodMs: number("shutdownGracePeriod"),
      shutdownGracePeriodCriticalPodsMs: number("shutdownGracePeriodCriticalPods"),
      shutdownGracePeriodByPodPriority: config.get("shutdownGracePeriodByPodPriority") ?? [],
    }),
    shutdownTimes: config.gate("GracefulNodeShutdownBasedOnPodPriority"),

    // A warning has named the others.
    clusterDNS: texts("clusterDNS").filter((address) => isIP(address) !== 0),
    clusterDomain: text("clusterDomain"),
    resolvConf: text("resolvConf"),
    maxPods: number("maxPods"),
    podsPerCore: number("podsPerCore"),
    allowedUnsafeSysctls: texts("allowedUnsafeSysctls"),
    podLevelResources: config.gate("PodLevelResources"),
    resizeRules: {
      podLevel: config.gate("InPlacePodLevelResourcesVerticalScaling"),
      exclusiveCPUs: config.gate("InPlacePodVerticalScalingExclusiveCPUs"),
      exclusiveMemory: config.gate("InPlacePodVerticalScalingExclusiveMemory"),
      staticCPUs: text("cpuManagerPolicy") === "static",
      staticMemory: text("memoryManagerPolicy") === "Static",
      limitedSwap: text("memorySwap.swapBehavior") === "LimitedSwap",
    },
    podPidsLimit: number("podPidsLimit"),
    cpuCFSQuota: bool("cpuCFSQuota"),
    cpuCFSQuotaPeriodMs: rest("cpuCFSQuotaPeriod", 100),
    singleProcessOOMKill: config.get("singleProcessOOMKill"),
    swapBehavior: text("memorySwap.swapBehavior") === "LimitedSwap" ? "LimitedSwap" : "NoSwap",
    memoryQos: memoryQosOf(config),
    qosReservedMemory: config.gate("QOSReserved") ? parsePercentage(map("qosReserved")["memory"] ?? "") : undefined,
    kubeletInUserNamespace: config.gate("KubeletInUserNamespace"),
    idsPerPod: config.get("userNamespaces.idsPerPod") ?? DEFAULT_IDS_PER_POD,
    containerStopSignals: config.gate("ContainerStopSignals"),
    preventStaticPodAPIReferences: config.gate("PreventStaticPodAPIReferences"),
    envFiles: config.gate("EnvFiles"),
    resourceHealthStatus: config.gate("ResourceHealthStatus"),
    podResourcesListUseActivePods: config.gate("KubeletPodResourcesListUseActivePods"),
    seccompDefault: bool("seccompDefault"),
    restartGates: {
      containerRestartRules: config.gate("ContainerRestartRules"),
      restartAllContainers: config.gate("RestartAllContainersOnContainerExits"),
    },
    crashLoopBackOff: crashLoopBackOff(config),
    serializeImagePulls: bool("serializeImagePulls"),
    maxParallelImagePulls: config.get("maxParallelImagePulls"),
    registryPullQPS: number("registryPullQPS"),
    registryBurst: number("registryBurst"),
    kubeletEnsureSecretPulledImages: config.gate("KubeletEnsureSecretPulledImages"),
    imagePullCredentialsVerificationPolicy: verificationPolicyOf(text("imagePullCredentialsVerificationPolicy")),
    preloadedImagesVerificationAllowlist: texts("preloadedImagesVerificationAllowlist"),
    kubeletServiceAccountTokenForCredentialProviders: config.gate("KubeletServiceAccountTokenForCredentialProviders"),
    imageMinimumGCAgeMs: number("imageMinimumGCAge"),
    imageMaximumGCAgeMs: number("imageMaximumGCAge"),
    imageGCHighThresholdPercent: number("imageGCHighThresholdPercent"),
    imageGCLowThresholdPercent: number("imageGCLowThresholdPercent"),

    registerNode: bool("registerNode"),
    registerWithTaints: config.get("registerWithTaints") ?? [],
    providerID: text("providerID"),
    rotateCertificates: bool("rotateCertificates"),
    nodeStatusUpdateFrequencyMs: number("nodeStatusUpdateFrequency"),
    nodeStatusReportFrequencyMs: number("nodeStatusReportFrequency"),
    nodeLeaseDurationSeconds: number("nodeLeaseDurationSeconds"),

    verbosity: number("logging.verbosity"),
    vmodule: config.get("logging.vmodule") ?? [],
    logFormat: text("logging.format") === "json" ? "json" : "text",
    logFlushFrequencyMs: number("logging.flushFrequency"),
  };
}

/** The fields whose values are of type T. */
type PathOf<T> = { [P in FieldPath]: FieldValue<P> extends T ? P : never }[FieldPath];

/** A period that somebody set wins over the gate's shorter maximum; the standard one does not. */
function crashLoopBackOff(config: EffectiveConfig): CrashLoopBackOff {
  const path = "crashLoopBackOff.maxContainerRestartPeriod";
  const quick = config.gate("ReduceDefaultCrashLoopBackOffDecay");
  const given = config.gate("KubeletCrashLoopBackOffMax") && config.isSet(path) ? config.get(path) : undefined;
  const maxMs = given ?? (quick ? 60 : 300) * SECOND;
  return { baseMs: Math.min((quick ? 1 : 10) * SECOND, maxMs), maxMs };
}

const THROTTLING_FACTOR = 0.9;

function memoryQosOf(config: EffectiveConfig): Settings["memoryQos"] {
  if (!config.gate("MemoryQoS")) return undefined;
  return {
    throttlingFactor: config.get("memoryThrottlingFactor") ?? THROTTLING_FACTOR,
    reserve: config.get("memoryReservationPolicy") === "TieredReservation",
  };
}

/** The rules have refused what is none of them; without its gate the field has no value and nothing is verified. */
function verificationPolicyOf(text: string): VerificationPolicy {
  return VERIFICATION_POLICIES.find((policy) => policy === text) ?? "NeverVerify";
}

function withScheme(endpoint: string): string {
  return endpoint.startsWith("/") ? `unix://${endpoint}` : endpoint;
}
