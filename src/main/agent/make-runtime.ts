// Creates the collaborators of the runtime verbs: the CRI connection, cgroups, images, volumes, and the facts of this
// node.
import type { CriClientOptions } from "../../shared/cri/caller.js";
import { podUidsIn } from "../volumes/paths.js";
import { createCriClient } from "../../shared/cri/client.js";
import type { Pod } from "../../shared/api/pod.js";
import { printQuantity, value as wholeUnits, ZERO } from "../../shared/api/quantity.js";
import type { Clock } from "../../shared/clock/clock.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { cgroupMetrics, reservedMemoryMetrics } from "../resources/cgroups/metrics.js";
import type { PodMetrics } from "../sync/metrics.js";
import { readFileLabel } from "../../shared/os/se-linux.js";
import { runtimeOperationsMetrics } from "../../shared/metrics/runtime-operations.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { volumeMetrics } from "../volumes/metrics.js";
import type { LateCluster } from "../cluster/membership.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { ProviderCredentials } from "../images/keyring/keyring-credentials.js";
import { nodeImages } from "../images/node-images.js";
import type { HostIPs } from "../status/host-ips.js";
import { readThermalThrottlePaths, readTotalSwap } from "../node/machine.js";
import { createCgroupManager } from "../resources/cgroups/cgroup-manager.js";
import { hasSwapController, readCgroupMounts, type CgroupMounts } from "../../shared/cgroup/mounts.js";
import { hostHugePageSizes } from "../resources/page-sizes.js";
import { readPageSize } from "../resources/page-size.js";
import { LateCgroups } from "../resources/cgroups/late-cgroups.js";
import type { NodeResources } from "../resources/node-capacity.js";
import { nodeAllocatable } from "../runtime/container-env.js";
import type { ResourceManagers } from "../resources/assignment/resource-manager.js";
import type { DoerSettings, NodeFacts, NodeRuntime } from "../runtime/node-runtime.js";
import { runtimeHandler } from "../runtime/runtime-handlers.js";
import { SandboxesAhead } from "../runtime/sandboxes-ahead.js";
import type { VolumeCalls } from "../../shared/volume-calls/volume-calls.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { HookPort } from "../model/hook-port.js";
import type { PodTrace } from "../model/pod-trace.js";
import { observedIds } from "../user-namespaces/observed-ids.js";
import { UserNamespaces } from "../user-namespaces/user-namespaces.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { createVolumeManager } from "../volumes/volume-manager.js";
import { nodeCgroupDriver } from "./cgroup-driver.js";
import { changeOwnershipIn } from "./change-ownership.js";
import type { NetworkSettings } from "../command/views/network.js";
import type { NodeSettings } from "./node-settings.js";
import { countingMetrics, recordLosingSupport } from "./runtime-metrics.js";
import { readFile, stat } from "node:fs/promises";
import type { ProjectQuotas } from "../volumes/quotas/project-quotas.js";
import type { NodeDns } from "../network/pod-dns.js";
import { parseResolvConf } from "../network/resolv-conf.js";
export interface NodeRuntimeDeps {
  clock: Clock;
  log: Logger;
  registry: ThreadRegistry;
  metrics: PodMetrics;
  events: EventRecorder;
  trace: PodTrace;
  hooks: HookPort;
  tasks: TasksPool;
  calls: VolumeCalls;
  quotas: ProjectQuotas;
  providers: ProviderCredentials | undefined;
  /** Volumes that outlive pods; absent on a stand-alone node. */
  persistent: PersistentVolumes | undefined;
  /** Fails a pod with a volume that can never be set up. */
  refuse: (uid: string, failure: { reason: string; message: string }) => void;
  managers: ResourceManagers;
  hostIPs: HostIPs;
  /** Node allocatable: the resources that pods may use. */
  allocatable: Promise<NodeResources>;
  /** Absent on a stand-alone node; filled when the kubelet has joined its cluster. */
  cluster: LateCluster | undefined;
}

/** The runtime with its collaborators. */
export interface MadeRuntime extends NodeRuntime {
  mounts: CgroupMounts;
}

export async function makeRuntime(settings: NodeSettings, deps: NodeRuntimeDeps): Promise<MadeRuntime> {
  const { clock, log, registry, metrics, events, trace, tasks, providers, managers, cluster } = deps;
  // The first await may come long after the rejection.
  deps.allocatable.catch(() => undefined);
  const operations = runtimeOperationsMetrics(registry);
  const cri = createCriClient({
    endpoint: settings.runtime.containerRuntimeEndpoint,
    runtimeRequestTimeoutMs: settings.runtime.runtimeRequestTimeoutMs,
    clock,
    onCall: ({ operation, durationMs, error }) =>
      operations.recordCall({ operation, durationMs, error: error !== undefined }),
    concurrency: criConcurrency(settings.cpuCount),
    listStreaming: settings.runtime.criListStreaming,
    podUids: () => podUidsIn(settings.rootDir),
  });
  const driver = nodeCgroupDriver(cri, settings.cgroups.cgroupDriver, {
    clock,
    log,
    onCallMissing: () => recordLosingSupport(registry),
  });
  const thermal = readThermalThrottlePaths();
  const [mounts, hugePageSizes, pageSize] = await Promise.all([
    readCgroupMounts(),
    hostHugePageSizes(),
    readPageSize(),
  ]);
  const { cgroupRoot, cgroupsPerQOS, cpuCFSQuota, qosReservedMemory: percent } = settings.cgroups;
  const { rootDir } = settings;
  const { maxPods } = settings.resources;
  const podPidsLimit = BigInt(settings.cgroups.podPidsLimit);
  const allocatableBytes = deps.allocatable.then((allocatable) => wholeUnits(allocatable.get("memory") ?? ZERO));
  const cpuPeriodUs = BigInt(Math.round(settings.cgroups.cpuCFSQuotaPeriodMs * 1000));
  const common = {
    ...{
      cgroupRoot,
      cgroupsPerQOS,
      podPidsLimit,
      cpuCFSQuota,
      cpuPeriodUs,
      mounts,
      hugePageSizes,
      pageSize,
      log,
      clock,
    },
    reserveMemory: mounts.version === 2 && settings.cgroups.memoryQos?.reserve === true,
    onOperation: cgroupMetrics(registry),
    onReserved: reservedMemoryMetrics(registry),
    noCpuQuota: (pod: Pod) => managers.noCpuQuota(pod),
  };
  const cgroups = new LateCgroups(
    mounts.version,
    Promise.all([driver, allocatableBytes]).then(([chosen, bytes]) => {
      const reserved = percent === undefined ? {} : { reserved: { percent, allocatableBytes: bytes } };
      return createCgroupManager({ ...common, ...reserved, driver: chosen });
    }),
  );
  const [swapController, swapBytes, thermalThrottlePaths, fileLabel, allocatable] = await Promise.all([
    hasSwapController(mounts),
    readTotalSwap(),
    thermal,
    readFileLabel(),
    deps.allocatable,
  ]);
  const node: NodeFacts = {
    nodeName: settings.nodeName,
    get nodeIPs() {
      return deps.hostIPs.current;
    },
    memoryBytes: settings.memoryBytes,
    cpuCount: settings.cpuCount,
    allocatable: Object.fromEntries([...allocatable].map(([name, amount]) => [name, printQuantity(amount)])),
    cgroupVersion: mounts.version,
    swapController,
    hugePageSizes,
    thermalThrottlePaths,
    seLinux: fileLabel !== undefined,
    containerLimits: {
      singleProcessOOMKill: settings.cgroups.singleProcessOOMKill ?? mounts.version === 1,
      cpuPeriodUs,
      swap: { behavior: settings.cgroups.swapBehavior, nodeBytes: swapBytes },
      ...(settings.cgroups.memoryQos !== undefined && {
        memoryQos: {
          ...settings.cgroups.memoryQos,
          allocatableBytes: wholeUnits(allocatable.get("memory") ?? ZERO),
          pageSize,
        },
      }),
    },
  };
  const volumes = createVolumeManager(
    {
      rootDir: settings.rootDir,
      nodeName: settings.nodeName,
      volumePluginDir: settings.runtime.volumePluginDir,
      nodeMemoryBytes: settings.memoryBytes,
      nodeAllocatable: () => nodeAllocatable(node, cluster?.access),
      syncFrequencyMs: settings.sources.syncFrequencyMs,
      clock,
      log,
      events,
      metrics: volumeMetrics(registry),
      changeOwnership: changeOwnershipIn(tasks),
      calls: deps.calls,
      quotas: deps.quotas,
      ...(deps.persistent !== undefined && { persistent: deps.persistent }),
      refuse: deps.refuse,
    },
    cluster?.access,
  );
  cluster?.onJoined((objects) => objects.onChange((uid) => volumes.refreshPod(uid)));
  const access = cluster === undefined ? {} : { cluster: cluster.access };
  return {
    ...access,
    mounts,
    cri,
    clock,
    log: moduleLogger(log, "doer"),
    events,
    trace,
    hooks: deps.hooks,
    images: nodeImages(
      { ...settings.images, rootDir, maxPods },
      {
        cri,
        clock,
        log,
        events,
        trace,
        registry,
        providers,
        cluster: cluster?.access,
        runtimeHandler: (pod, signal) => runtimeHandler(access, pod, signal),
      },
    ),
    cgroups,
    managers,
    userNamespaces: new UserNamespaces(
      { rootDir, idsPerPod: settings.runtime.idsPerPod, maxPods },
      { observed: observedIds(cri), log: moduleLogger(log, "user-namespaces") },
    ),
    volumes,
    sandboxesAhead: new SandboxesAhead(),
    node,
    settings: doerSettings(settings),
    dns: nodeDns(settings.network, cluster !== undefined, deps.hostIPs),
    metrics: countingMetrics(metrics, registry),
  };
}

/**
 * Limits of concurrent calls per verb: a burst must not overload the runtime. The processors do most of the work of a PodSandbox:
 * with fewer at once the first pods of a burst are Ready, or removed, before the last ones begin.
 */
function criConcurrency(cpuCount: number): NonNullable<CriClientOptions["concurrency"]> {
  const from = Math.min(16, Math.max(4, 2 * cpuCount));
  return {
    RunPodSandbox: { from, to: 16 },
    StopPodSandbox: { from, to: 64 },
    CreateContainer: 16,
    StartContainer: 16,
    StopContainer: 64,
  };
}

function doerSettings(settings: NodeSettings): DoerSettings {
  const { rootDir, maximumDeadContainersPerContainer, containerLogsDir, kubernetesVersion } = settings;
  return {
    ...settings.runtime,
    ...{ rootDir, maximumDeadContainersPerContainer, containerLogsDir, kubernetesVersion },
    podLogsDir: settings.containerLogs.podLogsDir,
    clusterDomain: settings.network.clusterDomain,
    cpuCFSQuota: settings.cgroups.cpuCFSQuota,
  };
}

/** The node's resolver settings; the host's file is parsed again only when it changed. */
function nodeDns(
  settings: Pick<NetworkSettings, "clusterDNS" | "clusterDomain" | "resolvConf">,
  inCluster: boolean,
  hostIPs: Pick<HostIPs, "current">,
): () => Promise<NodeDns> {
  const { clusterDNS, clusterDomain, resolvConf } = settings;
  let cached: { version: string; host: NodeDns["host"] } | undefined;
  return async () => {
    const nodeIPs = hostIPs.current;
    if (resolvConf === "") return { inCluster, clusterDNS, clusterDomain, nodeIPs, host: undefined };
    const { mtimeMs, size, ino } = await stat(resolvConf);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (cached?.version !== version) {
      cached = { version, host: parseResolvConf(await readFile(resolvConf, "utf8")) };
    }
    return { inCluster, clusterDNS, clusterDomain, nodeIPs, host: cached.host };
  };
}
