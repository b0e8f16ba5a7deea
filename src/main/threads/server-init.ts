// Makes the init data of the servers' threads from the settings, and their upcalls to main.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import { NO_MANIFESTS } from "../../shared/contracts/manifest-facts.js";
import { adminSocketOf } from "../../shared/contracts/nodelet.js";
import type {
  AdminInit,
  CertificateFile,
  HandlerInit,
  PageInit,
  SecureInit,
  ServerInit,
  ServerThreadName,
  ServerUpcalls,
  StatsInit,
} from "../../shared/contracts/server.js";
import { configzBodies } from "../command/config/configz.js";
import type { Settings } from "../command/settings.js";
import type { ThreadFacts, ThreadDeps } from "./thread-host.js";

/** All but `sendPods`, which belongs to the thread's own list of changes. */
export function serverUpcalls(
  deps: Omit<ThreadDeps<string>, "context">,
  thread: ServerThreadName,
): Omit<ServerUpcalls, "sendPods"> {
  const { owner } = deps;
  return {
    collectMetrics: () => deps.collectMetrics(thread),
    timeline: async (namespace, name) => (await owner).timeline(namespace, name),
    mirrorUid: async (namespace, name) => (await owner).mirrorUid(namespace, name),
    collectProbeMetrics: () => deps.collectProbeMetrics(),
    podDisks: async (uids, maxAgeMs) => (await owner).podDisks(uids, maxAgeMs, 0),
    setVerbosity: (verbosity) => deps.setVerbosity(verbosity),
    nodeFacts: async () => (await owner).nodeFacts(),
    podFacts: async (namespace, name) => (await owner).podFacts(namespace, name),
    allPodFacts: async () => (await owner).allPodFacts(),
    restartPod: async (namespace, name) => (await owner).restartPod(namespace, name),
    podStarts: async () => (await owner).podStarts(),
    events: async (about) => (await owner).events(about),
    unusedImages: async () => (await owner).unusedImages(),
    manifests: async (call) => (await owner).manifests(call),
  };
}

/**
 * Init data of the thread that no TLS handshake of an unauthorised client may delay: /healthz, the read-only port, the
 * admin socket, the status page on 127.0.0.1.
 */
export function serverInit(facts: ThreadFacts): ServerInit {
  const { settings } = facts;
  return omitUndefined({
    ...commonInit(facts),
    readOnlyPort: settings.server.readOnlyPort,
    healthzPort: settings.server.healthzPort,
    admin: settings.adminSocket === "none" ? undefined : adminInit(facts),
    page: settings.statusPagePort === 0 ? undefined : { ...pageInit(facts), secure: false },
  });
}

/** The authenticated port. undefined: enableServer is false. */
export function secureServerInit(facts: ThreadFacts): ServerInit | undefined {
  const { settings } = facts;
  if (!settings.server.enableServer) return undefined;
  return omitUndefined({
    ...commonInit(facts),
    readOnlyPort: 0,
    healthzPort: 0,
    secure: secureInit(facts),
    page: settings.statusPage ? { ...pageInit(facts), loopbackPort: 0 } : undefined,
  });
}

function commonInit(facts: ThreadFacts): Omit<ServerInit, "readOnlyPort" | "healthzPort"> {
  const { settings, nodeName } = facts;
  return {
    address: settings.server.address,
    readOnlyPods: settings.readOnlyPods,
    healthzBindAddress: settings.server.healthzBindAddress,
    devicePluginProblem: "",
    manifests: NO_MANIFESTS,
    syncLoopMaxAgeMs: settings.sources.syncLoopMaxAgeMs,
    nodeName,
    configz: configzBodies(settings.config, settings.certDir),
    runtime: omitUndefined({
      endpoint: settings.runtime.containerRuntimeEndpoint,
      imageEndpoint: settings.runtime.imageServiceEndpoint,
      requestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
      listStreaming: settings.runtime.criListStreaming,
      criChannel: settings.criChannel,
      docker:
        settings.docker.mode === "node"
          ? { endpoint: settings.docker.endpoint, network: settings.docker.network }
          : undefined,
    }),
    stats: statsInit(settings),
  };
}

function statsInit(settings: Settings): StatsInit {
  return {
    rootDir: settings.rootDir,
    podLogsDir: settings.containerLogs.podLogsDir,
    cgroupRoot: settings.cgroups.cgroupRoot,
    cgroupsPerQOS: settings.cgroups.cgroupsPerQOS,
    kubeletCgroups: settings.cgroups.kubeletCgroups,
    runtimeCgroups: settings.runtimeCgroups,
    systemCgroups: settings.cgroups.systemCgroups,
    runtimeEndpoint: settings.runtime.containerRuntimeEndpoint,
    volumeStatsAggPeriodMs: settings.node.volumeStatsAggPeriodMs,
    localStorageCapacityIsolation: settings.eviction.localStorageCapacityIsolation,
    podAndContainerStatsFromCRI: settings.server.podAndContainerStatsFromCRI,
  };
}

/** Root decides on this socket: settings that protect the node from clients of the port do not apply. */
function adminInit(facts: ThreadFacts): AdminInit {
  const { settings, api } = facts;
  const handlers = handlerInit(facts);
  return omitUndefined({
    socket: settings.adminSocket === "" ? adminSocketOf(settings.rootDir) : settings.adminSocket,
    group: settings.adminSocketGroup,
    rootDir: settings.rootDir,
    handlers: {
      ...handlers,
      manifestApi: settings.manifestApi !== "off",
      enableDebuggingHandlers: true,
      gates: { ...handlers.gates, extendWebSocketsToKubelet: true },
    },
    certificates: certificateFiles(facts),
    api,
  });
}

function pageInit(facts: ThreadFacts): PageInit {
  const { settings, api } = facts;
  return omitUndefined({
    secure: settings.statusPage,
    loopbackPort: settings.statusPagePort,
    handlers: handlerInit(facts),
    certificates: certificateFiles(facts),
    api,
  });
}

function certificateFiles({ settings, serving, api }: ThreadFacts): CertificateFile[] {
  const renewed = api === undefined || api.renewedCertificate === "" ? [] : [api.renewedCertificate];
  return [
    ...(settings.server.enableServer ? [{ use: "serving" as const, file: serving.certFile }] : []),
    ...renewed.map((file) => ({ use: "client" as const, file })),
  ];
}

function secureInit(facts: ThreadFacts): SecureInit {
  const { settings, serving, api } = facts;
  const { certFile, keyFile } = serving;
  return omitUndefined({
    ...handlerInit(facts),
    port: settings.server.port,
    tls: {
      certFile,
      keyFile,
      minVersion: settings.server.tlsMinVersion,
      ciphers: settings.server.tlsCiphers,
      curves: settings.server.tlsCurves,
    },
    authentication: settings.server.authentication,
    authorization: settings.server.authorization,
    api,
    reviews: { qps: settings.node.kubeAPIQPS, burst: settings.node.kubeAPIBurst },
  });
}

function handlerInit({ settings, directories }: ThreadFacts): HandlerInit {
  return {
    enableDebuggingHandlers: settings.server.enableDebuggingHandlers,
    enableSystemLogHandler: settings.server.enableSystemLogHandler,
    enableSystemLogQuery: settings.server.enableSystemLogQuery,
    enableProfilingHandler: settings.server.enableProfilingHandler,
    enableDebugFlagsHandler: settings.server.enableDebugFlagsHandler,
    streamingConnectionIdleTimeoutMs: settings.server.streamingConnectionIdleTimeoutMs,
    podLogsDir: settings.containerLogs.podLogsDir,
    checkpointsDir: directories.checkpoints,
    gates: settings.server.serverGates,
    flags: settings.flags.map(({ name, value }) => ({ name, value })),
    kubernetesVersion: settings.kubernetesVersion,
    manifestApi: settings.manifestApi === "on",
  };
}
