// The whole kubelet on one page: its components and the order of their start. They stop in reverse order.
// Invariant: the pods keep running when the kubelet stops.
import type { RuntimeState } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import type { Pod } from "../../shared/api/pod.js";
import { startLogRotation } from "../logs/start-log-rotation.js";
import { checkLeftStates } from "../resources/managers/left-states.js";
import { startPodCidr } from "../runtime/pod-cidr.js";
import type { NodeSync } from "../sync/node-sync.js";
import type { NodeRecorder } from "../events/node-recorder.js";
import type { Sources } from "../sources/start-sources.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { Components, running } from "../model/components.js";
import type { AgentContext } from "./context.js";
import { makeFoundation } from "./foundation.js";
import { LateEviction, MainThreadOwner, hookFaults } from "./thread-owner.js";
import { startLateIptables } from "./after-start.js";
import { startLateWarnings } from "./start-warnings.js";
import { watchLoopDelay } from "./loop-delay.js";
import { startMemoryRelease } from "./memory-release.js";
import { startLateSockets } from "./late-sockets.js";
import { Later } from "./later.js";
import { makeManagedRuntime } from "./managed-runtime.js";
import { joinItsCluster, startPodSources } from "./pod-sources.js";
import { startServingCertificate } from "./serving-certificate.js";
import { makeSyncPath } from "./sync-path.js";

export interface RunningAgent {
  /** The last status of the runtime; undefined until the first. */
  runtime(): RuntimeState | undefined;
  /** Every source has delivered once and the runtime was observed: all pods are known. */
  settled(): boolean;
  /** All pods with their statuses. */
  pods(): readonly Pod[];
  /** The recorder of events about the node. */
  events: Pick<NodeRecorder, "node" | "sent">;
  /** Orderly stop; pods keep running. */
  stop(): Promise<void>;
}

/** Resolves when all has started; late and background starts may follow. Rejects with nothing left running. */
export async function buildAgent(context: AgentContext): Promise<RunningAgent> {
  const { settings, threads, registry, clock, log } = context;
  const startedAt = clock.now();
  const later = new Later<NodeSync>("the sync path");
  const foundation = await makeFoundation(context);
  const managed = await makeManagedRuntime(context, foundation, later);
  const path = makeSyncPath(context, foundation, managed, later);
  const { events, tasks, calls, quotas, membership, timelines } = foundation;
  const { runtime, managers, devices, collection } = managed;
  const { cri } = runtime;
  const { sync, probes, pressures, shutdown, cgroupMaintenance } = path;
  const { rootDir } = settings;
  const { podLogsDir } = settings.containerLogs;
  const eviction = new LateEviction({
    ...{ rootDir, podLogsDir, sync, pressures, tasks, quotas, events, cri, registry, clock, log },
    thread: threads.of.eviction,
    removeDeadContainers: () => collection.removeDeadContainers(),
    removeUnusedImages: () => threads.of["image-gc"].removeUnusedImages(),
  });
  const sources = new Later<Sources>("the pod sources");
  const settled = (): boolean => sources.get().allSourcesSeen() && sync.cache.complete;
  const components = new Components(
    [
      { name: "the connection to the runtime", stop: () => cri.close() },
      { name: "the tasks pool", stop: () => tasks.close() },
      { name: "eviction", stop: () => eviction.stop() },
      { name: "the threads", stop: () => threads.stop() },
      { name: "probes", stop: () => probes.stop() },
      {
        name: "the state on disk",
        start: () =>
          Promise.all([sync.load(), probes.load(), checkLeftStates({ rootDir, ...settings.resources }, clock, log)]),
      },
      {
        name: "the resource managers",
        start: () => managers.start(() => sync.records.unendedPods()),
        stop: () => managers.stop(),
      },
      { name: "the sync path", stop: () => sync.stop() },
      // Stopped before the sync path: a pass that waits for a hung volume would delay the stop.
      { name: "calls on volumes", stop: () => calls.close() },
      {
        name: "the replies to threads",
        start: () =>
          threads.attach(
            new MainThreadOwner({
              ...{
                sync,
                probes,
                pressures,
                timelines,
                membership,
                collection,
                eviction,
                calls,
                hostIPs: foundation.hostIPs,
                resources: managed.resources,
                settled,
                clock,
                startedAt,
                log,
              },
              events: events.store,
              ...(context.configuration && { configuration: context.configuration }),
              unusedImages: () => threads.of["image-gc"].thread.call.unusedImages(),
              sources: sources.get,
            }),
          ),
      },
      // A node of a cluster gets its CIDR from the Node object.
      running("the pod CIDR", () =>
        startPodCidr(membership === undefined ? settings.network.podCIDR : "", { cri, clock, log }),
      ),
      { name: "collection", start: () => collection.start(), stop: () => collection.stop() },
      running("the fault hook", () => ({ stop: hookFaults(context) })),
      running("the pod sources", () => {
        sources.set(startPodSources(context, foundation, managed, sync));
        return sources.get();
      }),
      {
        name: "the cluster",
        start: () => joinItsCluster(context, foundation, managed, path, sources.get()),
        stop: () => membership?.stop(),
      },
      running("log rotation", () => {
        const pods = (): Iterable<ObservedPod> => sync.cache.all();
        return startLogRotation({ settings: settings.containerLogs, pods, cri, tasks, registry, clock, log });
      }),
      running("the serving certificate", () => startServingCertificate(context, tasks)),
      running("sockets for plugins", () =>
        startLateSockets({
          ...{ rootDir, devices, registry, clock, log },
          watchPlugins: context.cluster === undefined,
          pods: () => sync.statuses.all(),
          ports: { exclusive: managers },
          cluster: () => runtime.cluster?.(),
          activePodsOnly: settings.runtime.podResourcesListUseActivePods,
          ...(settings.runtime.podsApi && { podsApi: { pods: sync.statuses, events: sync.events } }),
        }),
      ),
      running("warnings about the machine", () =>
        startLateWarnings({ rootDir, ...settings.network }, { events, clock, log }),
      ),
      running("the chains in iptables", () =>
        startLateIptables({ makeIPTablesUtilChains: settings.network.makeIPTablesUtilChains, clock, log }),
      ),
      running("the release of free memory", () => startMemoryRelease({ clock, log })),
      running("the samples of main's delay", () => ({ stop: watchLoopDelay(registry) })),
      { name: "the cgroups of pods", start: () => runtime.cgroups.setUp() },
      {
        name: "the cgroups of the node",
        start: () => cgroupMaintenance.schedule(),
        stop: () => cgroupMaintenance.stop(),
      },
      {
        name: "graceful shutdown of the node",
        start: () =>
          shutdown.schedule({
            groups: settings.eviction.shutdownGroups,
            withTimes: settings.eviction.shutdownTimes,
            workers: sync.workers,
            onShuttingDown: (shuttingDown) => membership?.setShuttingDown(shuttingDown),
            ...{ rootDir, settled, events, registry, clock, log },
          }),
        stop: () => shutdown.stop(),
      },
    ],
    log,
    (error) => events.node({ type: "Warning", reason: "KubeletSetupFailed", message: messageOf(error) }),
  );
  await components.start();
  return {
    runtime: () => sync.cache.runtime,
    settled,
    pods: () => sync.statuses.all(),
    events,
    stop: () => components.stop(),
  };
}
