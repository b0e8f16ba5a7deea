// Volumes that outlive pods, on a node that joins a cluster. A stand-alone node loads nothing of them.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { VolumeCalls } from "../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";
import type { Settings } from "../command/settings.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import type { EventRecorder, ObjectEvents } from "../model/event-recorder.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { changeOwnershipIn } from "./change-ownership.js";

export interface PersistentDeps {
  settings: Settings;
  nodeName: string;
  cluster: ClusterAccess;
  tasks: TasksPool;
  calls: VolumeCalls;
  events: EventRecorder & ObjectEvents;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export async function makePersistentVolumes(deps: PersistentDeps): Promise<PersistentVolumes> {
  const { settings, nodeName, cluster, tasks, calls, events, registry, clock, log } = deps;
  const { PersistentVolumes } = await import("../volumes/persistent/persistent-volumes.js");
  return new PersistentVolumes({
    nodeName,
    cluster,
    calls,
    events,
    registry,
    clock,
    log,
    rootDir: settings.rootDir,
    volumePluginDir: settings.runtime.volumePluginDir,
    changeOwnership: changeOwnershipIn(tasks),
    controllerAttaches: settings.node.enableControllerAttachDetach,
    statsPeriodMs: settings.node.volumeStatsAggPeriodMs,
    volumeHealth: settings.node.csiVolumeHealth,
    seLinuxEveryMode: settings.node.seLinuxMount,
  });
}
