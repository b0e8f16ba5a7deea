// The whole kubelet on one page: its parts in the order in which they are made, and its components in the order of
// their start. They stop in reverse order.
// Invariant: the pods keep running when the kubelet stops.

import { messageOf } from "../../shared/base/errors/thrown.js";
import type { RuntimeState } from "../../shared/contracts/pleg.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { startLogRotation } from "../containers/logs/start-log-rotation.js";
import type { NodeRuntime } from "../containers/runtime/node-runtime.js";
import { startPodCidr } from "../containers/runtime/pod-cidr.js";
import { Components, running, type Component } from "../model/components.js";
import { recordNode } from "../node/metrics.js";
import { LeasedImages } from "../pods/collection/leased-images.js";
import type { NodeRecorder } from "../pods/events/node-recorder.js";
import { PodState } from "../pods/sync/pod-state.js";
import { NodePressures } from "../resources/eviction/pressures.js";
import { checkLeftStates } from "../resources/managers/left-states.js";
import { NodeResourcesHolder } from "../resources/node-resources.js";
import { deferredCgroupMaintenance } from "./cgroup-maintenance.js";
import { connectRuntime } from "./connect-runtime.js";
import type { AgentContext } from "./context.js";
import { deferredEviction } from "./deferred-eviction.js";
import { hookFaults } from "./fault-hook.js";
import { makeFoundation } from "./foundation.js";
import { deferredIptables } from "./iptables.js";
import { beginJoin } from "./join.js";
import { watchLoopDelay } from "./loop-delay.js";
import { readMachineFacts } from "./machine.js";
import { makePodSync, makeProbes } from "./make-pod-sync.js";
import { makeRuntime } from "./make-runtime.js";
import { startMemoryRelease } from "./memory-release.js";
import { readAdmissionFacts, makeAdmission } from "./node-admission.js";
import { makeCollection, makeImageUse } from "./node-collection.js";
import { makeManagers } from "./node-managers.js";
import { deferredShutdown, ShutdownNotice } from "./node-shutdown.js";
import { startOptimizerPolicy } from "./optimizer-policy.js";
import { OtherThreads } from "./other-threads.js";
import { pluginSockets } from "./plugin-sockets.js";
import { makeManifestReporter, makePodSources } from "./pod-sources.js";
import { startProgramPages } from "./program-pages.js";
import { deferredServingCertificate } from "./serving-certificate.js";
import { deferredWarnings } from "./start-warnings.js";
import { MainThreadOwner } from "./thread-owner.js";

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
  const parts = await makeParts(context);
  const { foundation, state, sync, settled } = parts;
  const { events } = foundation;
  const components = new Components(componentsOf(context, parts), context.log, (error) =>
    events.node({ type: "Warning", reason: "KubeletSetupFailed", message: messageOf(error) }),
  );
  await components.start();
  return {
    runtime: () => state.cache.runtime,
    settled,
    pods: () => sync.statuses.all(),
    events,
    stop: () => components.stop(),
  };
}

type Parts = Awaited<ReturnType<typeof makeParts>>;

/**
 * In this order: each part gets the values that it needs.
 * @throws NodeReservationError when the node has less than its reservations
 */
async function makeParts(context: AgentContext) {
  const { settings, threads, registry, clock, log } = context;
  const startedAt = clock.now();
  const { rootDir } = settings;
  const foundation = await makeFoundation(context);
  const { events, membership, tasks } = foundation;
  const state = new PodState({ rootDir, pleg: threads.of.pleg, clock, log });
  const others = new OtherThreads(clock, () => context.startOtherThreads());
  const cri = others.behindFirstSandbox(connectRuntime(context));
  const [machine, facts] = await Promise.all([readMachineFacts(), readAdmissionFacts(settings)]);
  const resources = new NodeResourcesHolder(facts);
  const { devices, managers } = makeManagers(context, { state, cri, resources, events });
  const use = makeImageUse(state, clock);
  const bare = await makeRuntime(context, { foundation, machine, facts, state, cri, managers });
  const runtime: NodeRuntime = { ...bare, images: new LeasedImages(bare.images, use.leases, use.users) };
  const pressures = new NodePressures(clock);
  const shutdown = new ShutdownNotice();
  const probes = makeProbes(context, foundation);
  const admitting = { facts, state, cri, events, managers, devices, resources, pressures, membership, shutdown };
  const admission = makeAdmission(context, admitting);
  const sync = makePodSync(context, { foundation, state, runtime, devices, probes, admission });
  const { workers, loop } = sync;
  const collection = makeCollection({ use, state, loop, cri, settings, events, registry, clock, log });
  const eviction = deferredEviction(context, { foundation, state, workers, pressures, cri, collection });
  const sources = makePodSources(context, { state, sync, cri, tasks });
  const reporter = makeManifestReporter(context, { state, sources, events });
  const settled = (): boolean => sources.allSourcesSeen() && state.cache.complete;
  const cgroups = deferredCgroupMaintenance({
    settings,
    cgroups: runtime.cgroups,
    mounts: machine.mounts,
    capacity: facts.capacity,
    pods: () => state.pods.active(),
    events,
    clock,
    log,
  });
  state.events.subscribe("cgroups", cgroups.subscriber);
  state.events.subscribe("other-threads", {
    settled: () => {
      if ([...state.pods.all()].length === 0) others.now();
    },
  });
  recordNode(context.registry, { nodeName: settings.nodeName, cgroupVersion: runtime.node.cgroupVersion });
  return {
    foundation,
    state,
    cri,
    resources,
    devices,
    managers,
    use,
    runtime,
    pressures,
    shutdown,
    probes,
    sync,
    collection,
    eviction,
    sources,
    reporter,
    settled,
    cgroups,
    others,
    startedAt,
  };
}

/** Started one after another. Undefined: this node has no such component. */
function componentsOf(context: AgentContext, parts: Parts): (Component | undefined)[] {
  const { settings, threads, registry, clock, log, serving } = context;
  const { foundation, state, cri, managers, runtime, probes, sync, collection, sources, cgroups, others } = parts;
  const { events, tasks, calls, membership } = foundation;
  const { rootDir, nodeName, nodeIPs } = settings;
  const { running: threadsRun } = threads;
  const podCIDR = membership === undefined ? settings.network.podCIDR : "";
  const load = (): unknown =>
    Promise.all([state.load(), probes.load(), checkLeftStates({ rootDir, ...settings.resources }, clock, log)]);
  return [
    { name: "the connection to the runtime", stop: () => cri.close() },
    { name: "the tasks pool", stop: () => tasks.close() },
    parts.eviction,
    { name: "the threads", stop: () => threads.stop() },
    { name: "probes", stop: () => probes.stop() },
    { name: "the state on disk", start: load },
    {
      name: "the resource managers",
      start: () => managers.start(() => state.records.unendedPods()),
      stop: () => managers.stop(),
    },
    { name: "the sync path", start: () => sync.start(), stop: () => sync.stop() },
    // Stopped before the sync path: a pass that waits for a hung volume would delay the stop.
    { name: "calls on volumes", stop: () => calls.close() },
    { name: "the replies to threads", start: () => threads.attach(ownerOf(context, parts)) },
    { name: "the other threads", start: () => others.start(), stop: () => others.stop() },
    // A node of a cluster gets its CIDR from the Node object.
    running("the pod CIDR", () => startPodCidr(podCIDR, { cri, clock, log })),
    { name: "collection", start: () => collection.start(), stop: () => collection.stop() },
    running("the fault hook", () => ({ stop: hookFaults({ rootDir, threads, clock, log }) })),
    { name: "the list of manifests", stop: () => parts.reporter.stop() },
    { name: "the pod sources", start: () => sources.start(), stop: () => sources.stop() },
    { name: "the cluster", start: () => beginJoin(context, parts), stop: () => membership?.stop() },
    running("log rotation", () =>
      startLogRotation({ settings: settings.containerLogs, pods: state.cache, cri, tasks, registry, clock, log }),
    ),
    deferredServingCertificate({ files: serving, nodeName, nodeIPs, running: threadsRun, tasks, clock, log }),
    ...pluginSockets(context, parts),
    deferredWarnings({ settings: { rootDir, ...settings.network }, events, clock, log }),
    settings.network.makeIPTablesUtilChains ? deferredIptables({ clock, log }) : undefined,
    running("the release of free memory", () => startMemoryRelease({ clock, log })),
    running("the release of the program's pages", () => startProgramPages({ clock, log })),
    running("the policy for V8's optimizer", () =>
      startOptimizerPolicy({ setBusy: (busy) => threads.setBusy(busy), clock, log }),
    ),
    running("the samples of main's delay", () => ({ stop: watchLoopDelay(registry) })),
    { name: "the cgroups of pods", start: () => runtime.cgroups.setUp() },
    cgroups,
    deferredShutdown(context, parts),
  ];
}

function ownerOf(context: AgentContext, parts: Parts): MainThreadOwner {
  const { threads, configuration, clock, log } = context;
  const { foundation, state, sync, runtime, probes, pressures, eviction, resources, sources, settled } = parts;
  const { membership, calls, hostIPs, timelines, events } = foundation;
  return new MainThreadOwner({
    state,
    sync,
    volumes: runtime.volumes,
    probes,
    pressures,
    timelines,
    membership,
    eviction,
    calls,
    hostIPs,
    resources,
    sources,
    collection: { upcalls: parts.collection, leases: parts.use.leases },
    events: events.store,
    configuration,
    unusedImages: () => Promise.resolve(threads.of["image-gc"].unusedImages()),
    settled,
    startedAt: parts.startedAt,
    clock,
    log,
  });
}
