// Creates the sync path with its collaborators: admission, probes, the node's cgroups and the subscribers of pod events.
import { containerNamed } from "../../shared/api/per-spec.js";
import type { Pod } from "../../shared/api/pod.js";
import type { ResourceStatus } from "../../shared/api/pod-status.js";
import { NodePressures } from "../eviction/pressures.js";
import type { PodClaims } from "../model/pod-claims.js";
import { createProbes } from "../probes/create-probes.js";
import { resizeMetrics } from "../resources/allocation/metrics.js";
import { emitHostIPs } from "../status/host-ips.js";
import { NodeSync } from "../sync/node-sync.js";
import { NodePodWatch } from "../timeline/node-pod-watch.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import type { Later } from "./later.js";
import type { ManagedRuntime } from "./managed-runtime.js";
import { nodeAdmission } from "./node-admission.js";
import { watchNode } from "./node-metrics.js";
import { NodeShutdown } from "./node-shutdown.js";
import { ProbeThreads } from "../threads/probe-threads.js";
import { LateCgroupMaintenance } from "./late-cgroup-maintenance.js";

export interface SyncPath {
  sync: NodeSync;
  probes: ReturnType<typeof createProbes>;
  pressures: NodePressures;
  shutdown: NodeShutdown;
  cgroupMaintenance: LateCgroupMaintenance;
}

/** Sets `later`, for the components that were created before. */
export function makeSyncPath(
  context: AgentContext,
  foundation: Foundation,
  managed: ManagedRuntime,
  later: Later<NodeSync>,
): SyncPath {
  const { settings, threads, registry, clock, log } = context;
  const { events, membership, hostIPs, timelines, metrics } = foundation;
  const { runtime, mounts, facts, devices, managers, resources } = managed;
  const pressures = new NodePressures(clock);
  const shutdown = new NodeShutdown();
  const probes = createProbes({
    rootDir: settings.rootDir,
    forgetsResults: settings.runtime.changeContainerStatusOnKubeletRestart,
    nodeIPs: () => hostIPs.current,
    prober: new ProbeThreads(threads.of),
    events: runtime.events,
    ...{ registry, clock, log },
  });
  const admission = nodeAdmission(facts, {
    cri: runtime.cri,
    fail: (uid, failure) => later.get().workers.fail(uid, failure),
    apiStatus: (uid) => later.get().cluster?.statusOf(uid),
    ...{ events, registry, log, managers, devices, resources },
    pressures: () => pressures.current,
    object: () => membership?.node(),
    shuttingDown: () => shutdown.shuttingDown,
    ...(membership !== undefined && { freshObject: (signal) => membership.freshNode(settings.nodeName, signal) }),
  });
  const cgroupMaintenance = new LateCgroupMaintenance(settings, {
    ...{ cgroups: runtime.cgroups, mounts, capacity: facts.capacity, events, clock, log },
    pods: () => later.get().activePods(),
  });
  const changed = (): void => cgroupMaintenance.podsChanged();
  const { mainSlot } = threads.context;
  const sync = new NodeSync({
    runtime,
    calls: foundation.calls,
    pleg: threads.of.pleg,
    ...{ probes, admission, clock, log },
    gates: settings.runtime.restartGates,
    ...(settings.runtime.resourceHealthStatus && {
      resourceHealth: (pod, container) => [
        ...devices.health(pod.metadata.uid, container),
        ...claimHealth(runtime.cluster?.()?.claims, pod, container),
      ],
    }),
    backoff: settings.runtime.crashLoopBackOff,
    syncFrequencyMs: settings.sources.syncFrequencyMs,
    resize: { counters: resizeMetrics(registry), rules: settings.resources.resizeRules },
    publish: (delta) => threads.servers.publish(delta),
    subscribers: {
      cgroups: { admitted: changed, resized: changed, terminated: changed, removed: changed },
      timelines: new NodePodWatch(timelines, metrics, clock).subscriber,
    },
    stamp: () => mainSlot.stamp(),
    setOp: (code) => mainSlot.setOp(code),
  });
  later.set(sync);
  hostIPs.onChange((change) => emitHostIPs(change, sync.statuses, events));
  watchNode(registry, metrics, sync);
  return { sync, probes, pressures, shutdown, cgroupMaintenance };
}

/** Health of the devices of the container's ResourceClaims. */
function claimHealth(claims: PodClaims | undefined, pod: Pod, name: string): ResourceStatus[] {
  const found = containerNamed(pod.spec, name);
  return claims === undefined || found?.place !== "app" ? [] : claims.health(pod, found.container);
}
