// The runtime for the sync path, with the CPU, memory and device managers. It also collects images, exited containers and orphaned pods.
import type { NodeSync } from "../sync/node-sync.js";
import { recordNode } from "../node/metrics.js";
import { NodeDevices } from "../resources/devices/node-devices.js";
import type { ResourceManagers } from "../resources/managers/port.js";
import { NodeResourcesHolder } from "../resources/node-resources.js";
import type { NodeRuntime } from "../runtime/node-runtime.js";
import type { AgentContext } from "./context.js";
import type { Foundation } from "./foundation.js";
import { Later } from "./later.js";
import { makeRuntime, type MadeRuntime } from "./make-runtime.js";
import { admissionFacts, type StandingFacts } from "./node-admission.js";
import { joinCollection, type NodeCollection } from "./node-collection.js";
import { nodeManagers } from "./node-managers.js";

export interface ManagedRuntime {
  runtime: NodeRuntime;
  mounts: MadeRuntime["mounts"];
  devices: NodeDevices;
  managers: ResourceManagers;
  resources: NodeResourcesHolder;
  collection: NodeCollection;
  facts: StandingFacts;
}

/** @throws OperatorError when the node has less than its reservations */
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
