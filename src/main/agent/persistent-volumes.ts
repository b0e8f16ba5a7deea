// Volumes that outlive pods, on a node that joins a cluster. A stand-alone node loads nothing of them.

import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/thread-log.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { VolumeCalls } from "../../shared/volume-calls/volume-calls.js";
import type { Settings } from "../command/settings-of.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import type { EventRecorder, ObjectEvents } from "../model/event-recorder.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { changeOwnershipIn } from "./change-ownership.js";

interface PersistentDeps {
  nodeName: string;
  cluster: ClusterAccess;
  tasks: TasksPool;
  calls: VolumeCalls;
  events: EventRecorder & ObjectEvents;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export async function persistentVolumes(settings: Settings, deps: PersistentDeps): Promise<PersistentVolumes> {
  const { PersistentVolumes } = await import("../volumes/persistent/persistent-volumes.js");
  const { rootDir } = settings;
  return new PersistentVolumes({
    ...deps,
    rootDir,
    volumePluginDir: settings.runtime.volumePluginDir,
    changeOwnership: changeOwnershipIn(deps.tasks),
    controllerAttaches: settings.node.enableControllerAttachDetach,
    statsPeriodMs: settings.node.volumeStatsAggPeriodMs,
    volumeHealth: settings.node.csiVolumeHealth,
    seLinuxEveryMode: settings.node.seLinuxMount,
  });
}
