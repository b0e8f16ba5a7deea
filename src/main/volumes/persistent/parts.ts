// What does the work behind claims and CSI volumes, put together. Loaded with the first of them.
import type { Clock } from "../../../shared/clock/clock.js";
import { readFileLabel } from "../../../shared/os/se-linux.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { ThreadRegistry } from "../../../shared/metrics/thread-registry.js";
import type { VolumeCalls } from "../../../shared/volume-calls/volume-calls.js";
import type { ClusterAccess } from "../../model/cluster-access.js";
import type { EventRecorder, ObjectEvents } from "../../model/event-recorder.js";
import type { OwnershipDeps } from "../fs-group/set-ownership.js";
import { volumeStatsMetrics } from "./metrics.js";
import { volumeMetrics } from "../metrics.js";
import { CsiVolumes } from "../csi/csi-volumes.js";
import type { CsiDrivers } from "../csi/drivers.js";
import { MIGRATED_FIELDS, type MigratedField } from "../csi/migrated-plugins.js";
import { deviceOf } from "../csi/csi-volume.js";
import { isDevicePlace, isImagePlace } from "../place.js";
import type { VolumePlugin } from "../plugin.js";
import { ClaimStats } from "./claim-stats.js";
import { VolumeExpansion } from "./expand.js";
import { inlineCsiPlugin, migratedPlugin } from "./inline-plugins.js";
import { LOCAL_PLUGIN, LocalVolumes } from "./local.js";
import { NfsVolumes } from "./nfs.js";
import { nfsPlugin } from "./nfs-plugin.js";
import { persistentPlugin, type PersistentPluginDeps } from "./persistent-plugin.js";

export interface PersistentVolumesOptions {
  rootDir: string;
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

export interface Parts {
  csi: CsiVolumes;
  stats: ClaimStats;
  /** See LocalVolumes. */
  releaseUnusedDevices(): Promise<void>;
  plugins: Record<"claim" | "ephemeral" | "csi" | "nfs" | "local" | MigratedField, VolumePlugin>;
}

export interface PartsOptions extends PersistentVolumesOptions {
  drivers: CsiDrivers;
  onInUse: () => void;
}

export async function makeParts(options: PartsOptions): Promise<Parts> {
  const { rootDir, nodeName, cluster, events, clock, statsPeriodMs } = options;
  const metrics = volumeMetrics(options.registry);
  const ownership = { changeOwnership: options.changeOwnership, calls: options.calls, events, clock, metrics };
  const volumes = new CsiVolumes({ ...options, ownership, metrics, seLinux: await readFileLabel() });
  const csi = (): Promise<CsiVolumes> => Promise.resolve(volumes);
  const stats = new ClaimStats({
    ...options,
    periodMs: statsPeriodMs,
    csi,
    metrics: (figures) => volumeStatsMetrics(options.registry, figures),
  });
  const local = new LocalVolumes(rootDir, ownership, events);
  const nfs = new NfsVolumes(rootDir);
  const expansion = new VolumeExpansion({ nodeName, cluster, csi, events, clock, metrics });
  const onBound: PersistentPluginDeps["onBound"] = (pod, volume, { claim, pv }, place) => {
    // Of a device nothing is known but its size, and a path of the node is the node's.
    if (isImagePlace(place) || isDevicePlace(place) || pv.spec.hostPath !== undefined) return;
    stats.watch({
      pod,
      volume: volume.name,
      onDisk: place.volumeName ?? volume.name,
      claim: claim.metadata.name ?? "",
      path: place.hostPath,
      ...(pv.spec.csi === undefined ? {} : { csi: deviceOf(pv.spec.csi) }),
    });
  };
  const deps = { nodeName, cluster, calls: options.calls, csi, local, nfs, expansion, onBound };
  const forgetting = (plugin: VolumePlugin): VolumePlugin => ({
    ...plugin,
    tearDown: async (uid, name, doneBy) => {
      stats.forget(uid, name);
      await plugin.tearDown?.(uid, name, doneBy);
    },
  });
  const migrated = MIGRATED_FIELDS.map((field) => [field, migratedPlugin(field, csi, cluster)] as const);
  return {
    csi: volumes,
    stats,
    releaseUnusedDevices: () => local.releaseUnused(),
    plugins: {
      claim: persistentPlugin(deps, "persistentVolumeClaim"),
      ephemeral: persistentPlugin(deps, "ephemeral"),
      csi: forgetting(inlineCsiPlugin(csi, cluster)),
      ...(Object.fromEntries(migrated) as Record<MigratedField, VolumePlugin>),
      nfs: forgetting(nfsPlugin(rootDir, nfs)),
      local: forgetting({
        name: LOCAL_PLUGIN,
        source: "",
        setUp: () => Promise.reject(new Error("local volumes are behind claims")),
        tearDown: (uid, name) => local.tearDown(uid, name),
        unmapDevice: (uid, name) => local.unmap(uid, name),
      }),
    },
  };
}
