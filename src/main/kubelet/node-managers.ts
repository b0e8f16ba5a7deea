// Makes the managers of the node's resources: CPUs, memory and devices.

import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import type { EventRecorder } from "../model/event-recorder.js";
import { readySandboxes, runningPods } from "../model/observed-containers.js";
import type { PodState } from "../pods/sync/pod-state.js";
import type { ResourceManagers } from "../resources/assignment/resource-manager.js";
import { NodeDevices } from "../resources/devices/node-devices.js";
import { createManagers, machineReading } from "../resources/managers/create-managers.js";
import type { NodeResourcesHolder } from "../resources/node-resources.js";
import type { AgentContext } from "./context.js";

export interface NodeManagersParts {
  state: Pick<PodState, "cache" | "events">;
  cri: CriClient;
  resources: NodeResourcesHolder;
  events: EventRecorder;
}

export function makeManagers(
  { settings, threads, registry, clock, log }: AgentContext,
  { state, cri, resources, events }: NodeManagersParts,
): { devices: NodeDevices; managers: ResourceManagers } {
  const { rootDir, allocatableIgnoresEviction, memoryBytes } = settings;
  const { evictionHard } = settings.eviction;
  const { cache } = state;
  const machine = machineReading();
  const devices = new NodeDevices({
    machine,
    rootDir,
    podRuns: (uid) => readySandboxes(cache.get(uid).sandboxes).length > 0,
    runningPods: () => runningPods(cache.all()),
    resources,
    load: () => managers.loadAll(),
    onHealth: (uids) => state.events.emit("healthChanged", { uids }),
    onRegistration: (problem) => threads.servers.setDevicePluginProblem(problem),
    registry,
    clock,
    log,
  });
  const managers: ResourceManagers = createManagers(
    { ...settings.resources, rootDir, allocatableIgnoresEviction, memoryBytes, evictionHard },
    { devices, machine, cri, observed: () => cache.all(), events, registry, clock, log },
  );
  return { devices, managers };
}
