// Builds the components behind claims and CSI volumes. Loaded with the first such volume.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { lazily } from "../../../shared/base/turns/lazily.js";
import { readFileLabel } from "../../../shared/io/os/se-linux.js";
import type { FCVolumeSource, ISCSIVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { ClusterAccess } from "../../model/cluster-access.js";
import type { EventRecorder, ObjectEvents } from "../../model/event-recorder.js";
import { NodeAttachments } from "../attachments/node-attachments.js";
import { deviceOf } from "../csi/csi-volume.js";
import { CsiVolumes } from "../csi/csi-volumes.js";
import type { CsiDrivers } from "../csi/drivers.js";
import { MIGRATED_FIELDS, type MigratedField } from "../csi/migrated-plugins.js";
import type { NetworkDisks } from "../disks/network-disks.js";
import type { FlexVolumes } from "../flex/flex-volumes.js";
import { flexVolumePlugin } from "../flex/plugin.js";
import type { OwnershipDeps } from "../fs-group/set-ownership.js";
import { lazyPlugin } from "../lazy-plugin.js";
import { volumeMetrics } from "../metrics.js";
import { isDevicePlace, isImagePlace } from "../place.js";
import { type VolumePlugin } from "../plugin.js";
import { SELinuxMounts } from "../se-linux-mounts.js";
import { ClaimStats } from "./claim-stats.js";
import { VolumeExpansion } from "./expand.js";
import { inlineCsiPlugin, migratedPlugin } from "./inline-plugins.js";
import { LOCAL_PLUGIN, LocalVolumes } from "./local.js";
import { volumeStatsMetrics } from "./metrics.js";
import { nfsPlugin } from "./nfs-plugin.js";
import { NfsVolumes } from "./nfs.js";
import { persistentPlugin, type PersistentPluginDeps } from "./persistent-plugin.js";

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
  plugins: Record<
    "claim" | "ephemeral" | "csi" | "nfs" | "flexVolume" | "iscsi" | "fc" | "local" | MigratedField,
    VolumePlugin
  >;
}

export interface ComponentsOptions extends PersistentVolumesOptions {
  drivers: CsiDrivers;
  onInUse: () => void;
}

export async function makeComponents(options: ComponentsOptions): Promise<PersistentComponents> {
  const { rootDir, nodeName, cluster, events, clock, statsPeriodMs } = options;
  const metrics = volumeMetrics(options.registry);
  const ownership = { changeOwnership: options.changeOwnership, calls: options.calls, events, clock, metrics };
  const label = await readFileLabel();
  const seLinux = label && new SELinuxMounts(label, options.seLinuxEveryMode, options.registry);
  const volumes = new CsiVolumes({ ...options, ownership, metrics, seLinux });
  const csi = (): Promise<CsiVolumes> => Promise.resolve(volumes);
  const stats = new ClaimStats({
    ...options,
    periodMs: statsPeriodMs,
    csi,
    metrics: (figures) => volumeStatsMetrics(options.registry, figures),
  });
  const local = new LocalVolumes(rootDir, ownership, events);
  const nfs = new NfsVolumes(rootDir);
  const { controllerAttaches, onInUse, volumePluginDir: pluginDir, log } = options;
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
  const onBound: PersistentPluginDeps["onBound"] = (pod, volume, { claim, pv }, place) => {
    // Of a device nothing is known but its size, and a path of the node is the node's.
    if (isImagePlace(place) || isDevicePlace(place) || place.unmeasured || pv.spec.hostPath !== undefined) return;
    stats.watch({
      pod,
      volume: volume.name,
      onDisk: place.volumeName ?? volume.name,
      claim: claim.metadata.name ?? "",
      path: place.hostPath,
      csi: pv.spec.csi === undefined ? undefined : deviceOf(pv.spec.csi),
    });
  };
  const deps = { nodeName, cluster, calls: options.calls, csi, local, nfs, flex, iscsi, fc, expansion, onBound };
  const forgetting = (plugin: VolumePlugin): VolumePlugin =>
    omitUndefined({
      ...plugin,
      tearDown: async (uid, name, onPluginKnown) => {
        stats.forget(uid, name);
        await plugin.tearDown?.(uid, name, onPluginKnown);
      },
      tearDownIn:
        plugin.tearDownIn !== undefined
          ? async (directory, uid, name) => {
              stats.forget(uid, name);
              await plugin.tearDownIn?.(directory, uid, name);
            }
          : undefined,
    });
  const migrated = MIGRATED_FIELDS.map((field) => [field, migratedPlugin(field, csi, cluster)] as const);
  return {
    csi: volumes,
    stats,
    attachments,
    flex,
    iscsi,
    fc,
    releaseUnusedDevices: () => local.releaseUnused(),
    plugins: {
      claim: persistentPlugin(deps, "persistentVolumeClaim"),
      ephemeral: persistentPlugin(deps, "ephemeral"),
      csi: forgetting(inlineCsiPlugin(csi, cluster)),
      ...(Object.fromEntries(migrated) as Record<MigratedField, VolumePlugin>),
      nfs: forgetting(nfsPlugin(rootDir, nfs)),
      flexVolume: forgetting(flexVolumePlugin(flex)),
      iscsi: forgetting(
        lazyPlugin({
          name: "kubernetes.io/iscsi",
          source: "iscsi",
          load: async () => (await import("../iscsi/plugin.js")).iscsiPlugin(iscsi),
        }),
      ),
      fc: forgetting(
        lazyPlugin({
          name: "kubernetes.io/fc",
          source: "fc",
          load: async () => (await import("../fc/plugin.js")).fcPlugin(fc),
        }),
      ),
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
