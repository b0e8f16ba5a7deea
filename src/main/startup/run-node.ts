// The run sequence of a node: joins runtime, threads, sources and the sync path, and takes them down again in order.
// What must hold: the pods live on when the agent stops; what was started is stopped in reverse.
import { readFile, stat } from "node:fs/promises";
import type { Clock } from "../../shared/clock/clock.js";
import { createCriClient } from "../../shared/cri/client.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { RuntimeState } from "../../shared/contracts/pleg.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { eventMetrics } from "../../shared/metrics/events.js";
import { watchLoopDelay } from "../../shared/metrics/loop-delay.js";
import { recordBuild, recordNode, goPlatform } from "../../shared/metrics/node.js";
import { podMetrics, type PodMetrics } from "../../shared/metrics/pods.js";
import { runtimeOperationsMetrics } from "../../shared/metrics/runtime-operations.js";
import { volumeMetrics } from "../../shared/metrics/volumes.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { parseResolvConf } from "../network/resolv-conf.js";
import type { NodeDns } from "../network/pod-dns.js";
import { NodeRecorder } from "../events/node-recorder.js";
import { startCredentialProviders } from "../images/credential-providers/start.js";
import type { NodeCredentials } from "../images/keyring/keyring-credentials.js";
import { admitAll } from "../admission/verdict.js";
import { nodeImages } from "../images/node-images.js";
import { createProbes } from "../probes/create-probes.js";
import { createCgroupManager } from "../resources/cgroup-manager.js";
import { LateCgroups } from "../resources/late-cgroups.js";
import { hasSwapController, readCgroupMounts } from "../resources/cgroup-mounts.js";
import { hostHugePageSizes } from "../resources/huge-pages.js";
import { startLogRotation } from "../logs/start-log-rotation.js";
import type { VerificationPolicy } from "../images/pull-records/verification-policy.js";
import type { NodeRuntime, RuntimeMetrics } from "../runtime/node-runtime.js";
import { startSources, type Sources } from "../sources/start-sources.js";
import type { BackoffOptions } from "../sync/crash-backoff.js";
import { NodeSync } from "../sync/node-sync.js";
import type { PodTrace } from "../timeline/trace.js";
import { Timelines } from "../timeline/timelines.js";
import type { RestartGates } from "../sync/restart.js";
import { createTasksPool, type TasksPool } from "../threads/tasks-pool.js";
import { UserNamespaces } from "../user-namespaces/user-namespaces.js";
import { createVolumeManager } from "../volumes/volume-manager.js";
import { nodeCgroupDriver } from "./cgroup-driver.js";
import { installFaultHook } from "./fault-hook.js";
import { joinCollection } from "./node-collection.js";
import { watchNode } from "./node-metrics.js";
import type { NodeThreads } from "./node-threads.js";
import type { RunOnceNode } from "./run-once.js";

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
  /** userNamespaces.idsPerPod. */
  idsPerPod: number;
  /** Gate ContainerStopSignals. */
  containerStopSignals: boolean;
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

export interface RunningNode extends RunOnceNode {
  /** What the runtime last said of itself; undefined until it did. */
  runtime(): RuntimeState | undefined;
  /** Orderly stop; pods are left as they are. */
  stop(): Promise<void>;
}

/** Pool threads decode manifests: 10 MiB of YAML expands to several times that. */
const TASKS_HEAP_MIB = 256;
/** Half a second's work; a file system that hangs must not keep a pool thread. */
const OWNERSHIP_JOB_MS = 120_000;

export interface RunNodeDeps {
  threads: NodeThreads;
  /** Main's own metrics. */
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export async function runNode(settings: NodeSettings, deps: RunNodeDeps): Promise<RunningNode> {
  const { threads, registry, clock, log } = deps;
  const metrics = podMetrics(registry);
  const providers = await startCredentialProviders(settings, { clock, log, registry });
  recordBuild(registry, { gitVersion: settings.kubernetesVersion, platform: goPlatform() });
  const tasks = createTasksPool({ minThreads: 1, maxThreads: 2, heapMiB: TASKS_HEAP_MIB, log, clock });
  const events = new NodeRecorder({
    nodeName: settings.nodeName,
    clock,
    log: moduleLogger(log, "events"),
    counters: eventMetrics(registry),
  });
  const timelines = new Timelines({ clock, events: (uid) => events.store.about(uid) });
  const bare = await nodeRuntime(settings, {
    clock,
    log,
    registry,
    metrics,
    events,
    trace: timelines,
    tasks,
    providers,
  });
  const collection = joinCollection(bare, settings, () => sync, { clock, log });
  const { runtime } = collection;
  recordNode(registry, { nodeName: settings.nodeName, cgroupVersion: runtime.node.cgroupVersion });
  const { pleg, server, prober, imageGc, house } = threads;
  const probes = createProbes({
    rootDir: settings.rootDir,
    nodeIPs: settings.nodeIPs,
    prober,
    events: runtime.events,
    registry,
    clock,
    log,
    onResult: (uid) => sync.onProbeResult(uid),
  });
  const sync: NodeSync = new NodeSync({
    runtime,
    pleg,
    probes,
    admission: admitAll,
    clock,
    log,
    gates: settings.restartGates,
    backoff: settings.crashLoopBackOff,
    publish: (delta) => server.publish(delta),
    onStarted: (_pod, sinceSeenMs) => metrics.podStartDuration.observe(sinceSeenMs / 1000),
    stamp: () => house.mainSlot.stamp(),
  });
  watchNode(registry, metrics, sync);
  const endLoopWatch = watchLoopDelay(registry);

  await Promise.all([sync.load(), probes.load()]);
  threads.attach({
    onRecord: (record) => sync.loop.onPlegRecord(record),
    watches: () => sync.watches(),
    resend: () => sync.cache.resend(),
    pods: () => sync.statuses.all(),
    timeline: (namespace, name) => timelines.show(namespace, name),
    onProbeRecord: (record) => probes.onRecord(record),
    probedPods: () => probes.probedPods(),
    collection: collection.owner,
  });
  collection.start();
  const removeFaultHook = installFaultHook({
    rootDir: settings.rootDir,
    threads: { pleg: pleg.thread, server: server.thread, prober: prober.thread, "image-gc": imageGc.thread },
    log,
  });
  const sources: Sources = startSources({
    staticPodPath: settings.staticPodPath,
    staticPodURL: settings.staticPodURL,
    staticPodURLHeader: settings.staticPodURLHeader,
    fileCheckFrequencyMs: settings.fileCheckFrequencyMs,
    httpCheckFrequencyMs: settings.httpCheckFrequencyMs,
    nodeName: settings.nodeName,
    tasks,
    log,
    clock,
    onChange: (change) => sync.loop.onPodChange(change),
    onSourcesSeen: () => sync.loop.onSourcesSeen(),
  });
  const pods = (): Iterable<ObservedPod> => sync.cache.all();
  const logs = startLogRotation({ settings, pods, cri: runtime.cri, tasks, registry, clock, log });
  const stop = async (): Promise<void> => {
    endLoopWatch();
    removeFaultHook();
    await sources.stop();
    await logs.stop();
    await collection.stop();
    await sync.stop();
    await probes.stop();
    await Promise.all([threads.stop(), tasks.close()]);
    runtime.cri.close();
  };
  try {
    await runtime.cgroups.setUp();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    runtime: () => sync.cache.runtime,
    settled: () => sources.allSourcesSeen() && sync.cache.complete,
    pods: () => sync.statuses.all(),
    stop,
  };
}

interface NodeRuntimeParts {
  clock: Clock;
  log: Logger;
  registry: ThreadRegistry;
  metrics: PodMetrics;
  events: NodeRecorder;
  trace: PodTrace;
  tasks: TasksPool;
  providers: NodeCredentials | undefined;
}

async function nodeRuntime(settings: NodeSettings, parts: NodeRuntimeParts): Promise<NodeRuntime> {
  const { clock, log, registry, metrics, events, trace, tasks, providers } = parts;
  const operations = runtimeOperationsMetrics(registry);
  const cri = createCriClient({
    endpoint: settings.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtimeRequestTimeoutMs,
    clock,
    onCall: ({ operation, durationMs, error }) =>
      operations.recordCall({ operation, durationMs, error: error !== undefined }),
    concurrency: CRI_CONCURRENCY,
  });
  const driver = nodeCgroupDriver(cri, settings.cgroupDriver, { clock, log });
  const [mounts, hugePageSizes] = await Promise.all([readCgroupMounts(), hostHugePageSizes()]);
  const { cgroupRoot, cgroupsPerQOS, podPidsLimit, cpuCFSQuota } = settings;
  const common = { cgroupRoot, cgroupsPerQOS, podPidsLimit, cpuCFSQuota, mounts, hugePageSizes, log, clock };
  const cgroups = new LateCgroups(
    mounts.version,
    driver.then((chosen) => createCgroupManager({ ...common, driver: chosen })),
  );
  return {
    cri,
    clock,
    log: moduleLogger(log, "doer"),
    events,
    trace,
    images: nodeImages(settings, { cri, clock, log, events, registry, providers }),
    cgroups,
    userNamespaces: new UserNamespaces(settings),
    volumes: createVolumeManager({
      rootDir: settings.rootDir,
      nodeMemoryBytes: settings.memoryBytes,
      clock,
      log,
      events,
      metrics: volumeMetrics(registry),
      changeOwnership: (job, signal) => tasks.run("changeOwnership", job, { deadlineMs: OWNERSHIP_JOB_MS, signal }),
    }),
    node: {
      nodeName: settings.nodeName,
      nodeIPs: settings.nodeIPs,
      memoryBytes: settings.memoryBytes,
      cpuCount: settings.cpuCount,
      cgroupVersion: mounts.version,
      swapController: await hasSwapController(mounts),
      hugePageSizes,
    },
    settings,
    dns: nodeDns(settings),
    metrics: countingMetrics(metrics, registry),
  };
}

/** Calls of a verb under way at once: a burst must not become a storm in the runtime. */
const CRI_CONCURRENCY = {
  RunPodSandbox: 16,
  CreateContainer: 16,
  StartContainer: 16,
  StopContainer: 64,
};

function countingMetrics(metrics: PodMetrics, registry: ThreadRegistry): RuntimeMetrics {
  const fallbacks = registry.counter(
    "kubelet_lifecycle_handler_http_fallbacks_total",
    "HTTPS lifecycle requests that were answered without TLS and succeeded without",
  );
  const imageVolumes = {
    requested: registry.counter("kubelet_image_volume_requested_total", "Mounts of image volumes asked for"),
    mounted: registry.counter("kubelet_image_volume_mounted_succeed_total", "Mounts of image volumes made"),
    failed: registry.counter("kubelet_image_volume_mounted_errors_total", "Mounts of image volumes that failed"),
  };
  return {
    imageVolumes: (what, count) => imageVolumes[what].inc(count),
    httpHookFellBack: () => fallbacks.inc(),
    sandboxRun(durationMs, ok, { handler, ownUsers }) {
      metrics.startedPods.inc();
      if (ownUsers) metrics.startedUserNamespacedPods.inc();
      metrics.runPodSandboxDuration.observe({ runtime_handler: handler }, durationMs / 1000);
      if (ok) return;
      metrics.startedPodsErrors.inc();
      if (ownUsers) metrics.startedUserNamespacedPodsErrors.inc();
      metrics.runPodSandboxErrors.inc({ runtime_handler: handler });
    },
    containerStarted: (kind) => metrics.startedContainers.inc({ container_type: kind }),
    containerStartFailed: (kind, code) => metrics.startedContainersErrors.inc({ container_type: kind, code }),
  };
}

/** The node's resolver settings; the host's file is parsed again only when it changed. */
function nodeDns(settings: NodeSettings): () => Promise<NodeDns> {
  const { clusterDNS, clusterDomain, nodeIPs, resolvConf } = settings;
  let cached: { version: string; host: NodeDns["host"] } | undefined;
  return async () => {
    if (resolvConf === "") return { clusterDNS, clusterDomain, nodeIPs, host: undefined };
    const { mtimeMs, size, ino } = await stat(resolvConf);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (cached?.version !== version) {
      cached = { version, host: parseResolvConf(await readFile(resolvConf, "utf8")) };
    }
    return { clusterDNS, clusterDomain, nodeIPs, host: cached.host };
  };
}
