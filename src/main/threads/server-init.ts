// Makes the init data of the server thread from the settings, and its upcalls to main.
import { adminSocketOf } from "../../shared/contracts/nodelet.js";
import type {
  AdminInit,
  HandlerInit,
  SecureInit,
  ServerInit,
  ServerUpcalls,
  StatsInit,
} from "../../shared/contracts/server.js";
import { configzBodies } from "../command/config/configz.js";
import type { Settings } from "../command/settings.js";
import type { ThreadFacts, ThreadDeps } from "./thread-host.js";

export function serverUpcalls(deps: ThreadDeps<"server">): ServerUpcalls {
  const { owner } = deps;
  return {
    collectMetrics: () => deps.collectMetrics(),
    timeline: async (namespace, name) => (await owner).timeline(namespace, name),
    mirrorUid: async (namespace, name) => (await owner).mirrorUid(namespace, name),
    collectProbeMetrics: () => deps.collectProbeMetrics(),
    podDisks: async (uids, maxAgeMs) => (await owner).podDisks(uids, maxAgeMs, 0),
    setVerbosity: (verbosity) => deps.setVerbosity(verbosity),
    nodeFacts: async () => (await owner).nodeFacts(),
    podFacts: async (namespace, name) => (await owner).podFacts(namespace, name),
    events: async () => (await owner).events(),
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
      listStreaming: settings.criListStreaming,
    },
    stats: statsInit(settings),
    ...(settings.enableServer ? { secure: secureInit(facts) } : {}),
    ...(settings.adminSocket === "none" ? {} : { admin: adminInit(facts) }),
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

/** Root decides on this socket: settings that protect the node from clients of the port do not apply. */
function adminInit(facts: ThreadFacts): AdminInit {
  const { settings, serving, api } = facts;
  const handlers = handlerInit(facts);
  const renewed = api === undefined || api.renewedCertificate === "" ? [] : [api.renewedCertificate];
  return {
    socket: settings.adminSocket === "" ? adminSocketOf(settings.rootDir) : settings.adminSocket,
    group: settings.adminSocketGroup,
    handlers: {
      ...handlers,
      enableDebuggingHandlers: true,
      gates: { ...handlers.gates, extendWebSocketsToKubelet: true },
    },
    certificates: [
      ...(settings.enableServer ? [{ use: "serving" as const, file: serving.certFile }] : []),
      ...renewed.map((file) => ({ use: "client" as const, file })),
    ],
    ...(api && { api }),
  };
}

function secureInit(facts: ThreadFacts): SecureInit {
  const { settings, serving, api } = facts;
  const { certFile, keyFile } = serving;
  return {
    ...handlerInit(facts),
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
  };
}

function handlerInit({ settings, directories }: ThreadFacts): HandlerInit {
  return {
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
