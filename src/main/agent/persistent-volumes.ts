// Volumes that outlive pods, on a node that joins a cluster. Nothing of them is loaded on any other.
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import type { ThreadRegistry } from "../../shared/metrics/thread-registry.js";
import type { ClusterAccess } from "../model/cluster-access.js";
import type { Settings } from "../command/settings.js";
import type { EventRecorder, ObjectEvents } from "../model/event-recorder.js";
import type { VolumeCalls } from "../../shared/volume-calls/volume-calls.js";
import type { TasksPool } from "../threads/tasks-pool.js";
import type { PersistentVolumes } from "../volumes/persistent/persistent-volumes.js";
import { changeOwnershipIn } from "./change-ownership.js";

export interface PersistentParts {
  nodeName: string;
  cluster: ClusterAccess;
  tasks: TasksPool;
  calls: VolumeCalls;
  events: EventRecorder & ObjectEvents;
  registry: ThreadRegistry;
  clock: Clock;
  log: Logger;
}

export async function persistentVolumes(settings: Settings, parts: PersistentParts): Promise<PersistentVolumes> {
  const { PersistentVolumes } = await import("../volumes/persistent/persistent-volumes.js");
  const { rootDir } = settings;
  return new PersistentVolumes({
    ...parts,
    rootDir,
    changeOwnership: changeOwnershipIn(parts.tasks),
    controllerAttaches: settings.enableControllerAttachDetach,
    statsPeriodMs: settings.volumeStatsAggPeriodMs,
    volumeHealth: settings.csiVolumeHealth,
    seLinuxEveryMode: settings.seLinuxMount,
  });
}
