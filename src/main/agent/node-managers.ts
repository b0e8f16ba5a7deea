// The managers of the node's resources (CPUs, memory and devices), joined to the sync path.

import type { ResourceManagers } from "../resources/assignment/resource-manager.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { CriClient } from "../../shared/cri/client.js";
import type { Logger } from "../../shared/log/thread-log.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { readySandboxes, runningPods } from "../model/observed-containers.js";
import { NodeDevices } from "../resources/devices/node-devices.js";
import { machineReading, createManagers } from "../resources/managers/create-managers.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import type { NodeSync } from "../sync/node-sync.js";
import type { NodeSettings } from "./node-settings.js";

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

export function nodeManagers(
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
