// The options of the volume manager and its plugins. In a separate file, because the manager imports the plugins, and
// they import this.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { ResourceList } from "../../shared/kubernetes/api/meta.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { VolumeCalls } from "../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../model/event-recorder.js";
import type { OwnershipDeps } from "./fs-group/set-ownership.js";
import type { VolumeMetrics } from "./metrics.js";
import type { PersistentVolumes } from "./persistent/persistent-volumes.js";
import type { ProjectQuotas } from "./quotas/project-quotas.js";

export interface VolumeManagerOptions {
  /** Root directory of the kubelet: /var/lib/kubelet. Absolute. */
  rootDir: string;
  nodeName: string;
  /** Directory of flexVolume drivers. */
  volumePluginDir: string;
  /** Upper bound of memory-backed volumes in bytes: the memory that the node has for pods. */
  nodeMemoryBytes: bigint;
  /** Node allocatable for the downward API. */
  nodeAllocatable(): ResourceList;
  /** Interval between two updates of volumes whose content changes. */
  syncFrequencyMs: number;
  clock: Clock;
  log: Logger;
  events: EventRecorder;
  metrics: VolumeMetrics;
  /** Runs in a pool thread. */
  changeOwnership: OwnershipDeps["changeOwnership"];
  /** For calls on files of a mount that may not respond. */
  calls: VolumeCalls;
  /** Project quotas of emptyDir volumes. */
  quotas: Pick<ProjectQuotas, "assign" | "adopt" | "clear">;
  /** Volumes that outlive pods, on a node with a cluster. */
  persistent?: Pick<PersistentVolumes, "plugins"> | undefined;
  /** A pod of which a volume can never be here is to end as failed. */
  refuse?: (uid: PodUid, failure: { reason: string; message: string }) => void;
}
