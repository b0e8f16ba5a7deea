// What the server thread is started with, out of the settings, and what it may ask of main.
import type { SecureInit, ServerInit, ServerUpcalls, StatsInit } from "../../shared/contracts/server.js";
import { configzBodies } from "../command/config/configz.js";
import type { Settings } from "../command/settings.js";
import type { ThreadFacts, ThreadParts } from "./thread-host.js";

export function serverUpcalls(parts: ThreadParts<"server">): ServerUpcalls {
  const { owner } = parts;
  return {
    collectMetrics: () => parts.collectMetrics(),
    timeline: async (namespace, name) => (await owner).timeline(namespace, name),
    mirrorUid: async (namespace, name) => (await owner).mirrorUid(namespace, name),
    collectProbeMetrics: () => parts.collectProbeMetrics(),
    podDisks: async (uids, maxAgeMs) => (await owner).podDisks(uids, maxAgeMs, 0),
    setVerbosity: (verbosity) => parts.setVerbosity(verbosity),
  };
}

export function serverInit(facts: ThreadFacts): ServerInit {
  const { settings, nodeName } = facts;
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
    ...(settings.enableServer ? { secure: secureInit(facts) } : {}),
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

function secureInit({ settings, directories, serving, api }: ThreadFacts): SecureInit {
  const { certFile, keyFile } = serving;
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
    ...(api && { api }),
    reviews: { qps: settings.kubeAPIQPS, burst: settings.kubeAPIBurst },
    enableDebuggingHandlers: settings.enableDebuggingHandlers,
    enableSystemLogHandler: settings.enableSystemLogHandler,
    enableSystemLogQuery: settings.enableSystemLogQuery,
    enableProfilingHandler: settings.enableProfilingHandler,
    enableDebugFlagsHandler: settings.enableDebugFlagsHandler,
    streamingConnectionIdleTimeoutMs: settings.streamingConnectionIdleTimeoutMs,
    podLogsDir: settings.podLogsDir,
    checkpointsDir: directories.checkpoints,
    gates: settings.serverGates,
    flags: settings.flags,
    kubernetesVersion: settings.kubernetesVersion,
  };
}
