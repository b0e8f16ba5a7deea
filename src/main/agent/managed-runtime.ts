// The runtime for the sync path, with the CPU, memory and device managers. It also collects images, exited containers and orphaned pods.
import type { NodeSync } from "../sync/node-sync.js";
import { recordNode } from "../node/metrics.js";
import { NodeDevices } from "../resources/devices/node-devices.js";
import type { ResourceManagers } from "../resources/managers/port.js";
import { NodeResourcesHolder } from "../resources/node-resources.js";
import type { NodeRuntime } from "../runtime/node-runtime.js";
import type { AgentContext, NodeSettings } from "./context.js";
import type { Foundation } from "./foundation.js";
import { Later } from "./later.js";
import { makeRuntime, type MadeRuntime } from "./make-runtime.js";
import { admissionFacts, type StandingFacts } from "./node-admission.js";
import { joinCollection, type NodeCollection } from "./node-collection.js";
import type { CriClient } from "../../shared/cri/client.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { readySandboxes, runningPods } from "../model/observed-containers.js";
import { createManagers, machineReading } from "../resources/managers/create-managers.js";

export interface ManagedRuntime {
  runtime: NodeRuntime;
  mounts: MadeRuntime["mounts"];
  devices: NodeDevices;
  managers: ResourceManagers;
  resources: NodeResourcesHolder;
  collection: NodeCollection;
  facts: StandingFacts;
}

/** @throws NodeReservationError when the node has less than its reservations */
export async function makeManagedRuntime(
  { settings, threads, registry, clock, log }: AgentContext,
  foundation: Foundation,
  sync: Later<NodeSync>,
): Promise<ManagedRuntime> {
  const { events, membership, persistent, timelines } = foundation;
  const made = new Later<MadeRuntime>("the runtime");
  const resources = new Later<NodeResourcesHolder>("the node's resources");
  const { devices, managers } = nodeManagers(settings, {
    sync: sync.get,
    cri: () => made.get().cri,
    resources: resources.get,
    onDeviceRegistration: (problem) => threads.servers.setDevicePluginProblem(problem),
    ...{ events, registry, clock, log },
  });
  const standing = admissionFacts(settings);
  const [bare, facts] = await Promise.all([
    makeRuntime(settings, {
      ...foundation,
      ...{ clock, log, registry, managers },
      trace: timelines,
      hooks: threads.of.peers,
      cluster: membership?.late,
      persistent,
      allocatable: standing.then(({ allocatable }) => allocatable),
      refuse: (uid, failure) => {
        sync
          .get()
          .workers.fail(uid, failure)
          .catch((error: unknown) => {
            log.error({ err: error, uid }, "cannot kill a pod whose volumes cannot be mounted");
          });
      },
    }),
    standing,
  ]);
  made.set(bare);
  const holder = new NodeResourcesHolder(facts);
  resources.set(holder);
  const collection = joinCollection(bare, settings, sync.get, { clock, log });
  const { runtime } = collection;
  recordNode(registry, { nodeName: settings.nodeName, cgroupVersion: runtime.node.cgroupVersion });
  return { runtime, mounts: bare.mounts, devices, managers, resources: holder, collection, facts };
}

// The managers of the node's resources (CPUs, memory and devices), joined to the sync path.

interface NodeManagersDeps {
  /** Called after all components exist. */
  sync: () => NodeSync;
  cri: () => CriClient;
  resources: () => NodeResourcesHolder;
  /** The reason why device plugins cannot register; "": they can. */
  onDeviceRegistration: (problem: string) => void;
  events: EventRecorder;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

function nodeManagers(
  settings: NodeSettings,
  deps: NodeManagersDeps,
): { devices: NodeDevices; managers: ResourceManagers } {
  const { sync, cri, resources, events, registry, clock, log } = deps;
  const machine = machineReading();
  const devices = new NodeDevices({
    machine,
    rootDir: settings.rootDir,
    podRuns: (uid) => readySandboxes(sync().cache.get(uid).sandboxes).length > 0,
    runningPods: () => runningPods(sync().cache.all()),
    resources,
    load: () => managers.loadAll(),
    onHealth: (uids) => uids.forEach((uid) => sync().statuses.refresh(uid)),
    onRegistration: deps.onDeviceRegistration,
    ...{ registry, clock, log },
  });
  const observed = () => sync().cache.all();
  const { rootDir, allocatableIgnoresEviction, memoryBytes, eviction } = settings;
  const managers = createManagers(
    {
      ...settings.resources,
      ...{ rootDir, allocatableIgnoresEviction, memoryBytes },
      evictionHard: eviction.evictionHard,
    },
    { devices, machine, cri, observed, ...{ events, registry, clock, log } },
  );
  return { devices, managers };
}
