// The run sequence of a node: joins runtime, threads, sources and the sync path, and takes them down again in order.
// Invariant: the pods live on when the agent stops; what was started is stopped in reverse.
import type { Clock } from "../../shared/clock/clock.js";
import type { RuntimeState } from "../../shared/contracts/pleg.js";
import type { ObservedPod } from "../../shared/cri/observed-pod.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import { eventMetrics } from "../events/metrics.js";
import { watchLoopDelay } from "./loop-delay.js";
import { goPlatform, recordBuild, recordNode } from "../node/metrics.js";
import { podMetrics } from "../sync/metrics.js";
import { resizeMetrics } from "../resources/allocation/metrics.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import { Membership } from "../cluster/membership.js";
import type { Settings } from "../command/settings.js";
import { NodeRecorder } from "../events/node-recorder.js";
import { NodePressures } from "../eviction/pressures.js";
import { startCredentialProviders } from "../images/credential-providers/start.js";
import { startLogRotation } from "../logs/start-log-rotation.js";
import type { ServingFiles } from "../node/certificates/certificate-files.js";
import { HostIPs, tellPods } from "../status/host-ips.js";
import type { NodeThreads } from "../threads/node-threads.js";
import { createProbes } from "../probes/create-probes.js";
import { checkLeftStates } from "../resources/managers/left-states.js";
import { NodeResourcesHolder } from "../resources/node-resources.js";
import { startSources, type Sources } from "../sources/start-sources.js";
import { NodeSync } from "../sync/node-sync.js";
import { createTasksPool } from "../threads/tasks-pool.js";
import { NodePodWatch } from "../timeline/node-pod-watch.js";
import { Timelines } from "../timeline/timelines.js";
import { installFaultHook, mainThread } from "./fault-hook.js";
import { LateCgroupCare } from "./late-cgroup-care.js";
import { LateEviction } from "./late-eviction.js";
import { startLateSockets } from "./late-sockets.js";
import { startLateWarnings } from "./late-warnings.js";
import { makeRuntime } from "./make-runtime.js";
import { admissionFacts, nodeAdmission } from "./node-admission.js";
import { joinCollection } from "./node-collection.js";
import { nodeManagers } from "./node-managers.js";
import { watchNode } from "./node-metrics.js";
import type { NodeSettings } from "./node-settings.js";
import { NodeShutdown } from "./node-shutdown.js";
import { provideServingCertificate } from "./serving-certificate.js";
import { startHelperProcess } from "../../shared/volume-calls/helper.js";
import { VolumeCalls } from "../../shared/volume-calls/volume-calls.js";
import { persistentVolumes } from "./persistent-volumes.js";
import type { RunOnceNode } from "./run-once.js";

export interface RunningNode extends RunOnceNode {
  /** What the runtime last said of itself; undefined until it did. */
  runtime(): RuntimeState | undefined;
  /** Orderly stop; pods are left as they are. */
  stop(): Promise<void>;
}

/** Pool threads decode manifests: 10 MiB of YAML expands to several times that. */
const TASKS_HEAP_MIB = 256;

export interface RunNodeDeps {
  threads: NodeThreads;
  /** Main's own metrics. */
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
  /** Of the authenticated port; absent: it is off. */
  serving?: ServingFiles;
  /** Absent: the node runs stand-alone. */
  cluster?: ClusterDeps;
}

interface ClusterDeps {
  /** As the command line and the files give them. */
  settings: Settings;
  /** Wall time, ms. */
  startedAtMs: number;
  giveUp: (reason: string) => void;
}

export async function runNode(settings: NodeSettings, deps: RunNodeDeps): Promise<RunningNode> {
  const { threads, registry, clock, log } = deps;
  const metrics = podMetrics(registry);
  const membership = deps.cluster === undefined ? undefined : new Membership(moduleLogger(log, "cluster"));
  const providing = { clock, log, registry, cluster: membership?.late.access };
  const providers = await startCredentialProviders(settings, providing);
  recordBuild(registry, { gitVersion: settings.kubernetesVersion, platform: goPlatform() });
  // In a cluster manifests seldom change, and the certificates' library should not stay.
  const minThreads = deps.cluster === undefined ? 1 : 0;
  const tasks = createTasksPool({ minThreads, maxThreads: 2, heapMiB: TASKS_HEAP_MIB, log, clock });
  const calls = new VolumeCalls({ clock, log: moduleLogger(log, "volumes"), startHelper: startHelperProcess });
  const events = new NodeRecorder({
    nodeName: settings.nodeName,
    clock,
    log: moduleLogger(log, "events"),
    counters: eventMetrics(registry),
  });
  const persistent =
    deps.cluster === undefined || membership === undefined
      ? undefined
      : await persistentVolumes(deps.cluster.settings, {
          ...{ tasks, calls, events, registry, clock, log },
          nodeName: settings.nodeName,
          cluster: membership.late.access,
        });
  const standing = admissionFacts(settings);
  const hostIPs = new HostIPs(settings.nodeIPs, clock);
  const timelines = new Timelines({ clock, events: (uid) => events.store.about(uid) });
  const { devices, managers } = nodeManagers(settings, {
    sync: () => sync,
    cri: () => bare.cri,
    resources: () => resources,
    ...{ events, registry, clock, log },
  });
  const [bare, facts] = await Promise.all([
    makeRuntime(settings, {
      clock,
      log,
      registry,
      metrics,
      events,
      trace: timelines,
      tasks,
      calls,
      providers,
      managers,
      hostIPs,
      ...(membership !== undefined && { cluster: membership.late }),
      ...(persistent !== undefined && { persistent }),
      allocatable: standing.then(({ allocatable }) => allocatable),
      refuse: (uid, failure) => {
        sync.workers.fail(uid, failure).catch((error: unknown) => {
          log.error({ err: error, uid }, "cannot kill a pod whose volumes cannot be mounted");
        });
      },
    }),
    standing,
  ]);
  const resources = new NodeResourcesHolder(facts);
  const collection = joinCollection(bare, settings, () => sync, { clock, log });
  const { runtime } = collection;
  recordNode(registry, { nodeName: settings.nodeName, cgroupVersion: runtime.node.cgroupVersion });
  const { pleg, server, prober, imageGc, eviction, house } = threads;
  const pressures = new NodePressures();
  const probes = createProbes({
    rootDir: settings.rootDir,
    nodeIPs: () => hostIPs.current,
    prober,
    events: runtime.events,
    registry,
    clock,
    log,
    onResult: (uid) => sync.onProbeResult(uid),
  });
  const shutdown = new NodeShutdown();
  const admission = nodeAdmission(facts, {
    cri: runtime.cri,
    events,
    registry,
    log,
    fail: (uid, failure) => sync.workers.fail(uid, failure),
    ...{ managers, devices, resources },
    pressures: () => pressures.current,
    object: () => membership?.node(),
    shuttingDown: () => shutdown.shuttingDown,
    ...(membership !== undefined && { freshObject: (signal) => membership.freshNode(settings.nodeName, signal) }),
  });
  const care = new LateCgroupCare(settings, {
    ...{ cgroups: runtime.cgroups, mounts: bare.mounts, capacity: facts.capacity, events, clock, log },
    pods: () => sync.activePods(),
  });
  const cgroupsChanged = (): void => care.podsChanged();
  const sync: NodeSync = new NodeSync({
    runtime,
    calls,
    pleg,
    probes,
    admission,
    clock,
    log,
    gates: settings.restartGates,
    ...(settings.resourceHealthStatus && { resourceHealth: (uid, container) => devices.health(uid, container) }),
    backoff: settings.crashLoopBackOff,
    resize: { counters: resizeMetrics(registry), rules: settings.resizeRules },
    publish: (delta) => server.publish(delta),
    subscribers: {
      cgroups: {
        admitted: cgroupsChanged,
        resized: cgroupsChanged,
        terminated: cgroupsChanged,
        removed: cgroupsChanged,
      },
      timelines: new NodePodWatch(timelines, metrics, clock).subscriber,
    },
    stamp: () => house.mainSlot.stamp(),
    setOp: (code) => house.mainSlot.setOp(code),
  });
  hostIPs.onChange((change) => tellPods(change, sync.statuses, events));
  watchNode(registry, metrics, sync);
  const endLoopWatch = watchLoopDelay(registry);

  const { rootDir, podLogsDir } = settings;
  const evicting = new LateEviction({
    ...{ rootDir, podLogsDir, sync, pressures, tasks, events, registry, clock, log },
    thread: eviction,
    removeDeadContainers: () => collection.removeDeadContainers(),
    removeUnusedImages: () => imageGc.removeUnusedImages(),
    cri: runtime.cri,
  });

  await Promise.all([sync.load(), probes.load(), checkLeftStates(settings, clock, log)]);
  await managers.start(() => sync.records.unendedPods());
  threads.attach({
    onRecord: (record) => {
      sync.loop.onPlegRecord(record);
      membership?.onRecord(record);
    },
    watches: () => sync.watches(),
    resend: () => sync.cache.resend(),
    pods: () => sync.statuses.all(),
    timeline: (namespace, name) => timelines.show(namespace, name),
    mirrorUid: (namespace, name) => membership?.mirrorUid(namespace, name),
    onProbeRecord: (record) => probes.onRecord(record),
    probedPods: () => probes.probedPods(),
    collection: collection.owner,
    ...evicting.answers,
  });
  collection.start();
  const removeFaultHook = installFaultHook({
    rootDir: settings.rootDir,
    threads: {
      main: mainThread(clock, log),
      pleg: pleg.thread,
      server: server.thread,
      prober: prober.thread,
      "image-gc": imageGc.thread,
      eviction: eviction.thread,
      get "node-status"() {
        return membership?.nodeStatusThread;
      },
    },
    log,
  });
  const sources: Sources = startSources({
    staticPodPath: settings.staticPodPath,
    staticPodURL: settings.staticPodURL,
    staticPodURLHeader: settings.staticPodURLHeader,
    fileCheckFrequencyMs: settings.fileCheckFrequencyMs,
    httpCheckFrequencyMs: settings.httpCheckFrequencyMs,
    preventAPIReferences: settings.preventStaticPodAPIReferences,
    nodeName: settings.nodeName,
    tasks,
    log,
    clock,
    onChange: (change) => sync.loop.onPodChange(change),
    onSourcesSeen: () => sync.loop.onSourcesSeen(),
    withApi: membership !== undefined,
    onStaticSourcesSeen: () => sync.loop.onStaticSourcesSeen(),
  });
  if (deps.cluster !== undefined && persistent !== undefined) {
    const joining = {
      ...deps.cluster,
      persistent,
      ...{ threads, sync, sources, tasks, registry, clock, log },
      nodeName: settings.nodeName,
      resources,
      hostIPs,
      plugins: { DevicePlugin: devices.handler },
      cri: runtime.cri,
      pressures,
      recorder: events,
    };
    membership?.begin(async () => {
      const { joinCluster } = await import("../cluster/join-cluster.js");
      return joinCluster({ ...joining, late: membership.late });
    });
  }
  const pods = (): Iterable<ObservedPod> => sync.cache.all();
  const logs = startLogRotation({ settings, pods, cri: runtime.cri, tasks, registry, clock, log });
  const ending = new AbortController();
  if (deps.serving !== undefined) {
    const { nodeName, nodeIPs } = settings;
    const { running } = threads;
    const { signal } = ending;
    void provideServingCertificate({ files: deps.serving, nodeName, nodeIPs, running, tasks, clock, log, signal });
  }
  const sockets = startLateSockets({
    rootDir: settings.rootDir,
    devices,
    watchPlugins: deps.cluster === undefined,
    pods: () => sync.statuses.all(),
    ports: { exclusive: managers },
    activePodsOnly: settings.podResourcesListUseActivePods,
    ...{ registry, clock, log },
  });
  const warnings = startLateWarnings(settings, { events, clock, log });
  const stop = async (): Promise<void> => {
    ending.abort();
    await warnings.stop();
    await sockets.stop();
    endLoopWatch();
    removeFaultHook();
    await shutdown.stop();
    await membership?.stop();
    await sources.stop();
    await logs.stop();
    await collection.stop();
    await care.stop();
    calls.close();
    await sync.stop();
    await managers.stop();
    await probes.stop();
    await threads.stop();
    await evicting.stop();
    await tasks.close();
    runtime.cri.close();
  };
  try {
    await runtime.cgroups.setUp();
    await care.begin();
  } catch (error) {
    await stop();
    throw error;
  }
  const settled = (): boolean => sources.allSourcesSeen() && sync.cache.complete;
  shutdown.begin({
    groups: settings.shutdownGroups,
    withTimes: settings.shutdownTimes,
    rootDir: settings.rootDir,
    workers: sync.workers,
    onShuttingDown: (shuttingDown) => membership?.setShuttingDown(shuttingDown),
    ...{ settled, events, registry, clock, log },
  });
  return {
    runtime: () => sync.cache.runtime,
    settled,
    pods: () => sync.statuses.all(),
    stop,
  };
}
