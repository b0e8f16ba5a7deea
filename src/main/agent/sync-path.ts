// Creates the sync path with its collaborators: admission, probes, the node's cgroups and the subscribers of pod events.
import { containerNamed } from "../../shared/api/per-spec.js";
import type { Pod } from "../../shared/api/pod.js";
import type { ResourceStatus } from "../../shared/api/pod-status.js";
import { NodePressures } from "../eviction/pressures.js";
import type { PodClaims } from "../model/pod-claims.js";
import { createProbes } from "../probes/probe-manager.js";
import { resizeMetrics } from "../resources/allocation/metrics.js";
import { emitHostIPs } from "../status/host-ips.js";
import { NodeSync } from "../sync/node-sync.js";
import { NodePodWatch } from "../timeline/node-pod-watch.js";
import type { AgentContext, NodeSettings } from "./context.js";
import type { Foundation } from "./foundation.js";
import type { Later } from "./later.js";
import type { ManagedRuntime } from "./managed-runtime.js";
import { nodeAdmission } from "./node-admission.js";
import { watchNode } from "./node-metrics.js";
import { NodeShutdown } from "./node-shutdown.js";
import { errorText } from "../../shared/log/error-text.js";
import { ProbeThreads } from "../threads/probe-threads.js";
import type { CgroupMaintenance, CgroupMaintenanceDeps } from "./node-cgroups.js";

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

// Starts the maintenance of the node's cgroups. It begins at once if the start of the kubelet depends on it, because a missing reserved
// cgroup is fatal. Otherwise it begins a second later, when the first pods are starting. Loaded only then.

const LATER_MS = 1000;

/** @internal */
export class LateCgroupMaintenance {
  private readonly ending = new AbortController();
  private begun: Promise<void> = Promise.resolve();
  private maintenance: CgroupMaintenance | undefined;

  constructor(
    private readonly settings: NodeSettings,
    private readonly deps: CgroupMaintenanceDeps,
  ) {}

  /** @throws what startCgroupCare throws, where the start depends on it */
  async schedule(): Promise<void> {
    const { clock, log } = this.deps;
    const { resources, cgroups } = this.settings;
    if (cgroups.systemCgroups !== "" || resources.enforceNodeAllocatable.some((entry) => entry.includes("reserved"))) {
      await this.start();
      return;
    }
    this.begun = clock
      .sleep(LATER_MS, this.ending.signal)
      .then(() => this.start())
      .catch((error: unknown) => {
        if (this.ending.signal.aborted) return;
        log.error({ err: error }, `cannot maintain the node's cgroups: ${errorText(error)}`);
      });
  }

  podsChanged(): void {
    this.maintenance?.podsChanged();
  }

  async stop(): Promise<void> {
    this.ending.abort(new Error("the kubelet is stopping"));
    await this.begun;
    const { maintenance } = this;
    this.maintenance = undefined;
    await maintenance?.stop();
  }

  private async start(): Promise<void> {
    const { startCgroupMaintenance } = await import("./node-cgroups.js");
    this.maintenance = await startCgroupMaintenance(this.settings, this.deps);
  }
}
