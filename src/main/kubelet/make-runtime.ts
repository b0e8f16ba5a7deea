// Makes the runtime verbs' collaborators: cgroups, images, volumes, and the facts of this node.

import { value } from "../../shared/kubernetes/api/quantity.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import { moduleLogger } from "../../shared/telemetry/log/logger.js";
import { nodeImages } from "../containers/images/node-images.js";
import { makeNodeDns } from "../containers/network/node-dns.js";
import { nodeAllocatable } from "../containers/runtime/container-env.js";
import type { DoerSettings, ImageProvider, NodeFacts, NodeRuntime } from "../containers/runtime/node-runtime.js";
import { readNodeFacts } from "../containers/runtime/read-node-facts.js";
import { runtimeHandler } from "../containers/runtime/runtime-handlers.js";
import { SandboxesAhead } from "../containers/runtime/sandboxes-ahead.js";
import { observedIds } from "../containers/user-namespaces/observed-ids.js";
import { UserNamespaces } from "../containers/user-namespaces/user-namespaces.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { ResourceManagers } from "../resources/assignment/resource-manager.js";
import type { CgroupManager } from "../resources/cgroups/cgroup-manager.js";
import { makeCgroups } from "../resources/cgroups/make-cgroups.js";
import { volumeMetrics } from "../volumes/metrics.js";
import { createVolumeManager, type VolumeManager } from "../volumes/volume-manager.js";
import { nodeCgroupDriver } from "./cgroup-driver.js";
import { changeOwnershipIn } from "./change-ownership.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import type { Machine } from "./machine.js";
import type { AdmissionFacts } from "./node-admission.js";
import type { NodeSettings } from "./node-settings.js";
import { countingMetrics, recordLosingSupport } from "./runtime-metrics.js";

export interface RuntimeParts {
  foundation: Foundation;
  machine: Machine;
  facts: Pick<AdmissionFacts, "allocatable">;
  /** Hears of a pod with a volume that can never be set up. */
  state: Pick<PodState, "events">;
  cri: CriClient;
  managers: ResourceManagers;
}

export async function makeRuntime(context: AgentContext, parts: RuntimeParts): Promise<NodeRuntime> {
  const { settings, threads, registry, clock, log } = context;
  const { foundation, cri, managers } = parts;
  const { events, timelines: trace, membership, hostIPs } = foundation;
  const nodeIPs = (): readonly string[] => hostIPs.current;
  const cgroups = makeNodeCgroups(context, parts);
  const node = await makeNodeFacts(settings, parts, nodeIPs);
  return {
    cluster: membership?.access,
    cri,
    clock,
    log: moduleLogger(log, "doer"),
    events,
    trace,
    hooks: threads.of.peers,
    images: makeImages(context, parts),
    cgroups,
    managers,
    userNamespaces: new UserNamespaces(
      { rootDir: settings.rootDir, idsPerPod: settings.runtime.idsPerPod, maxPods: settings.resources.maxPods },
      { observed: observedIds(cri), log: moduleLogger(log, "user-namespaces") },
    ),
    volumes: makeVolumes(context, parts, node),
    sandboxesAhead: new SandboxesAhead(),
    node,
    settings: doerSettings(settings),
    dns: makeNodeDns({ settings: settings.network, inCluster: membership !== undefined, nodeIPs }),
    metrics: countingMetrics(foundation.metrics, registry),
  };
}

function makeNodeCgroups({ settings, registry, clock, log }: AgentContext, parts: RuntimeParts): CgroupManager {
  const { machine, facts, cri, managers } = parts;
  const { mounts, hugePageSizes, pageSize } = machine;
  const onCallMissing = (): void => recordLosingSupport(registry);
  return makeCgroups({
    settings: settings.cgroups,
    driver: nodeCgroupDriver(cri, settings.cgroups.cgroupDriver, { clock, log, onCallMissing }),
    mounts,
    hugePageSizes,
    pageSize,
    allocatable: facts.allocatable,
    managers,
    registry,
    clock,
    log,
  });
}

function makeNodeFacts(
  settings: NodeSettings,
  { machine, facts }: RuntimeParts,
  nodeIPs: () => readonly string[],
): Promise<NodeFacts> {
  return readNodeFacts({
    nodeName: settings.nodeName,
    memoryBytes: settings.memoryBytes,
    cpuCount: settings.cpuCount,
    cgroups: settings.cgroups,
    mounts: machine.mounts,
    hugePageSizes: machine.hugePageSizes,
    pageSize: machine.pageSize,
    swapBytes: machine.swapBytes,
    thermalThrottlePaths: machine.thermalThrottlePaths,
    allocatable: facts.allocatable,
    nodeIPs,
  });
}

function makeImages(
  { settings, registry, clock, log }: AgentContext,
  { foundation, cri }: RuntimeParts,
): ImageProvider {
  const { events, timelines: trace, providers, membership } = foundation;
  const cluster = membership?.access;
  const { rootDir, images } = settings;
  const { maxPods } = settings.resources;
  return nodeImages(
    { ...images, rootDir, maxPods },
    {
      cri,
      clock,
      log,
      events,
      trace,
      registry,
      providers,
      cluster,
      runtimeHandler: (pod, signal) => runtimeHandler(cluster === undefined ? {} : { cluster }, pod, signal),
    },
  );
}

function makeVolumes(
  { settings, registry, clock, log }: AgentContext,
  { foundation, state }: RuntimeParts,
  node: NodeFacts,
): VolumeManager {
  const { events, tasks, calls, quotas, persistent, membership } = foundation;
  const { memory } = node.allocatable;
  const volumes = createVolumeManager(
    {
      rootDir: settings.rootDir,
      nodeName: settings.nodeName,
      volumePluginDir: settings.runtime.volumePluginDir,
      // As upstream: without what is reserved and set aside for eviction.
      nodeMemoryBytes: memory === undefined ? settings.memoryBytes : value(memory),
      nodeAllocatable: () => nodeAllocatable(node, membership?.access),
      syncFrequencyMs: settings.sources.syncFrequencyMs,
      clock,
      log,
      events,
      metrics: volumeMetrics(registry),
      changeOwnership: changeOwnershipIn(tasks),
      calls,
      quotas,
      persistent,
      refuse: (uid, failure) => state.events.emit("failRequested", { uid, failure }),
    },
    membership?.access,
  );
  membership?.onJoined((objects) => objects.onChange((uid) => volumes.refreshPod(uid)));
  return volumes;
}

function doerSettings(settings: NodeSettings): DoerSettings {
  const { rootDir, maximumDeadContainersPerContainer, containerLogsDir, kubernetesVersion } = settings;
  return {
    ...settings.runtime,
    rootDir,
    maximumDeadContainersPerContainer,
    containerLogsDir,
    kubernetesVersion,
    podLogsDir: settings.containerLogs.podLogsDir,
    clusterDomain: settings.network.clusterDomain,
    cpuCFSQuota: settings.cgroups.cpuCFSQuota,
  };
}
