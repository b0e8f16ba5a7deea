// Builds the components behind claims and CSI volumes. Loaded with the first such volume.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { lazily } from "../../../shared/base/turns/lazily.js";
import { readFileLabel } from "../../../shared/io/os/se-linux.js";
import type { FCVolumeSource, ISCSIVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import { moduleLogger, type Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { ClusterAccess } from "../../model/cluster-access.js";
import type { EventRecorder, ObjectEvents } from "../../model/event-recorder.js";
import { NodeAttachments } from "../attachments/node-attachments.js";
import { CsiVolumes } from "../csi/csi-volumes.js";
import type { CsiDrivers } from "../csi/drivers.js";
import type { NetworkDisks } from "../disks/network-disks.js";
import type { FlexVolumes } from "../flex/flex-volumes.js";
import type { OwnershipDeps } from "../fs-group/set-ownership.js";
import { volumeMetrics } from "../metrics.js";
import { SELinuxMounts } from "../se-linux-mounts.js";
import { ClaimStats } from "./claim-stats.js";
import { VolumeExpansion } from "./expand.js";
import { LocalVolumes } from "./local.js";
import { volumeStatsMetrics } from "./metrics.js";
import { NfsVolumes } from "./nfs.js";
import type { PersistentPluginDeps } from "./persistent-plugin.js";
import { pluginsBySource, type PersistentPlugins } from "./plugins-by-source.js";

export interface PersistentVolumesOptions {
  rootDir: string;
  /** Directory of flexVolume drivers. */
  volumePluginDir: string;
  nodeName: string;
  clock: Clock;
  log: Logger;
  events: EventRecorder & ObjectEvents;
  changeOwnership: OwnershipDeps["changeOwnership"];
  calls: VolumeCalls;
  cluster: ClusterAccess;
  /** enableControllerAttachDetach. */
  controllerAttaches: boolean;
  /** volumeStatsAggPeriod; 0 and less: no figures are taken. */
  statsPeriodMs: number;
  /** Gate CSIVolumeHealth. */
  volumeHealth: boolean;
  /** Gate SELinuxMount. */
  seLinuxEveryMode: boolean;
  registry: ThreadRegistry;
}

export interface PersistentComponents {
  csi: CsiVolumes;
  stats: ClaimStats;
  /** Attachments of volumes of in-tree plugins. */
  attachments: NodeAttachments;
  /** Each adopts the volumes of the previous kubelet process when it is created. */
  flex: () => Promise<FlexVolumes>;
  iscsi: () => Promise<NetworkDisks<ISCSIVolumeSource>>;
  fc: () => Promise<NetworkDisks<FCVolumeSource>>;
  /** See LocalVolumes. */
  releaseUnusedDevices(): Promise<void>;
  plugins: PersistentPlugins;
}

interface ComponentsDeps {
  drivers: CsiDrivers;
  onInUse: () => void;
}

export async function makeComponents(
  options: PersistentVolumesOptions,
  { drivers, onInUse }: ComponentsDeps,
): Promise<PersistentComponents> {
  const { rootDir, nodeName, cluster, events, clock, statsPeriodMs } = options;
  const metrics = volumeMetrics(options.registry);
  const ownership = { changeOwnership: options.changeOwnership, calls: options.calls, events, clock, metrics };
  const label = await readFileLabel();
  const seLinux = label && new SELinuxMounts(label, options.seLinuxEveryMode, options.registry);
  const { controllerAttaches, calls } = options;
  const log = moduleLogger(options.log, "csi");
  const volumes = new CsiVolumes({
    rootDir,
    nodeName,
    clock,
    log,
    events,
    ownership,
    metrics,
    drivers,
    cluster,
    controllerAttaches,
    seLinux,
    onInUse,
  });
  const csi = (): Promise<CsiVolumes> => Promise.resolve(volumes);
  const stats = new ClaimStats({
    periodMs: statsPeriodMs,
    csi,
    calls,
    clock,
    log,
    events,
    volumeHealth: options.volumeHealth,
    metrics: (figures) => volumeStatsMetrics(options.registry, figures),
  });
  const local = new LocalVolumes(rootDir, ownership, events);
  const nfs = new NfsVolumes(rootDir);
  const { volumePluginDir: pluginDir } = options;
  const attachments = new NodeAttachments({ nodeName, clock, cluster, controllerAttaches, onInUse });
  const flex = lazily(async () => {
    const { FlexVolumes } = await import("../flex/flex-volumes.js");
    const made = new FlexVolumes({ rootDir, pluginDir, attachments, ownership, log, cluster });
    await made.recover();
    return made;
  });
  const expansion = new VolumeExpansion({ nodeName, cluster, csi, local, flex, events, clock, metrics });
  const disks = { rootDir, attachments, ownership, seLinux, log };
  const iscsi = lazily(async () => (await import("../iscsi/plugin.js")).iscsiVolumes({ ...disks, cluster }));
  const fc = lazily(async () => (await import("../fc/plugin.js")).fcVolumes(disks));
  const onBound: PersistentPluginDeps["onBound"] = (...bound) => stats.onBound(...bound);
  const deps = { nodeName, cluster, calls, csi, local, nfs, flex, iscsi, fc, expansion, onBound };
  return {
    csi: volumes,
    stats,
    attachments,
    flex,
    iscsi,
    fc,
    releaseUnusedDevices: () => local.releaseUnused(),
    plugins: pluginsBySource(rootDir, deps, stats),
  };
}
