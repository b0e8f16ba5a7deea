// What each thread is started with, out of the settings.
import type { EvictionInit } from "../../shared/contracts/eviction.js";
import type { ImageGcInit } from "../../shared/contracts/image-gc.js";
import type { PlegInit } from "../../shared/contracts/pleg.js";
import type { ProberInit } from "../../shared/contracts/prober.js";
import type { SecureInit, ServerInit, StatsInit } from "../../shared/contracts/server.js";
import { configzBodies } from "../command/config/configz.js";
import { parseEviction } from "../command/rules/parse-eviction.js";
import type { Settings } from "../command/settings.js";
import { nodeConfigFiles, servingFiles } from "../node/certificates/certificate-files.js";
import { KUBERNETES_VERSION } from "../command/version.js";

/** Longest time for one pod's inspection, and for a whole list. */
const INSPECT_DEADLINE_MS = 5000;
const LIST_DEADLINE_MS = 30_000;

export function plegInit(settings: Settings): PlegInit {
  return {
    endpoint: settings.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtimeRequestTimeoutMs,
    inspectDeadlineMs: INSPECT_DEADLINE_MS,
    inspectConcurrency: 16,
    listDeadlineMs: Math.min(settings.runtimeRequestTimeoutMs, LIST_DEADLINE_MS),
    relistActiveMs: 1000,
    relistIdleMs: 10_000,
    statusPeriodMs: 5000,
    useEvents: true,
  };
}

export function proberInit(settings: Settings): ProberInit {
  const [major = "", minor = ""] = KUBERNETES_VERSION.slice(1).split(".");
  return {
    endpoint: settings.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtimeRequestTimeoutMs,
    userAgent: `kube-probe/${major}.${minor}`,
  };
}

/** Image detection and collection, and container collection: upstream's periods. */
const IMAGE_PERIOD_MS = 5 * 60_000;
const LINK_PERIOD_MS = 60_000;

export function imageGcInit(settings: Settings, containerLogsDir: string): ImageGcInit {
  return {
    imageEndpoint: settings.imageServiceEndpoint,
    runtimeEndpoint: settings.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtimeRequestTimeoutMs,
    imageGCHighThresholdPercent: settings.imageGCHighThresholdPercent,
    imageGCLowThresholdPercent: settings.imageGCLowThresholdPercent,
    imageMinimumGCAgeMs: settings.imageMinimumGCAgeMs,
    imageMaximumGCAgeMs: settings.imageMaximumGCAgeMs,
    imagePeriodMs: IMAGE_PERIOD_MS,
    linkPeriodMs: LINK_PERIOD_MS,
    containerLogsDir,
  };
}

/** Upstream looks at what it has every ten seconds. */
const SAMPLE_PERIOD_MS = 1000;

export function evictionInit(settings: Settings): EvictionInit {
  return {
    // Validation has refused what can't be read.
    thresholds: parseEviction(settings).thresholds,
    evictionPressureTransitionPeriodMs: settings.evictionPressureTransitionPeriodMs,
    evictionMaxPodGracePeriod: settings.evictionMaxPodGracePeriod,
    kernelMemcgNotification: settings.kernelMemcgNotification,
    localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
    enforcePods: settings.enforceNodeAllocatable.includes("pods"),
    rootDir: settings.rootDir,
    podLogsDir: settings.podLogsDir,
    cgroupRoot: settings.cgroupRoot,
    cgroupsPerQOS: settings.cgroupsPerQOS,
    containerRuntimeEndpoint: settings.containerRuntimeEndpoint,
    imageServiceEndpoint: settings.imageServiceEndpoint,
    runtimeRequestTimeoutMs: settings.runtimeRequestTimeoutMs,
    samplePeriodMs: SAMPLE_PERIOD_MS,
  };
}

export function serverInit(settings: Settings, nodeName: string, checkpointsDir: string): ServerInit {
  return {
    address: settings.address,
    readOnlyPort: settings.readOnlyPort,
    healthzBindAddress: settings.healthzBindAddress,
    healthzPort: settings.healthzPort,
    devicePluginProblem: "",
    syncLoopMaxAgeMs: settings.syncLoopMaxAgeMs,
    nodeName,
    configz: configzBodies(settings.config),
    runtime: {
      endpoint: settings.containerRuntimeEndpoint,
      imageEndpoint: settings.imageServiceEndpoint,
      requestTimeoutMs: settings.runtimeRequestTimeoutMs,
    },
    stats: statsInit(settings),
    ...(settings.enableServer ? { secure: secureInit(settings, checkpointsDir) } : {}),
  };
}

function statsInit(settings: Settings): StatsInit {
  return {
    rootDir: settings.rootDir,
    podLogsDir: settings.podLogsDir,
    cgroupRoot: settings.cgroupRoot,
    cgroupsPerQOS: settings.cgroupsPerQOS,
    kubeletCgroups: settings.kubeletCgroups,
    runtimeCgroups: settings.runtimeCgroups,
    systemCgroups: settings.systemCgroups,
    runtimeEndpoint: settings.containerRuntimeEndpoint,
    volumeStatsAggPeriodMs: settings.volumeStatsAggPeriodMs,
    localStorageCapacityIsolation: settings.localStorageCapacityIsolation,
    podAndContainerStatsFromCRI: settings.podAndContainerStatsFromCRI,
  };
}

function secureInit(settings: Settings, checkpointsDir: string): SecureInit {
  const { certFile, keyFile } = servingFiles(settings);
  return {
    port: settings.port,
    tls: {
      certFile,
      keyFile,
      minVersion: settings.tlsMinVersion,
      ciphers: settings.tlsCiphers,
      curves: settings.tlsCurves,
    },
    authentication: settings.authentication,
    authorization: settings.authorization,
    ...(settings.kubeconfig === "" ? {} : { api: nodeConfigFiles(settings) }),
    reviews: { qps: settings.kubeAPIQPS, burst: settings.kubeAPIBurst },
    enableDebuggingHandlers: settings.enableDebuggingHandlers,
    enableSystemLogHandler: settings.enableSystemLogHandler,
    enableSystemLogQuery: settings.enableSystemLogQuery,
    enableProfilingHandler: settings.enableProfilingHandler,
    enableDebugFlagsHandler: settings.enableDebugFlagsHandler,
    streamingConnectionIdleTimeoutMs: settings.streamingConnectionIdleTimeoutMs,
    podLogsDir: settings.podLogsDir,
    checkpointsDir,
    gates: settings.serverGates,
    flags: settings.flags,
    kubernetesVersion: settings.kubernetesVersion,
  };
}
