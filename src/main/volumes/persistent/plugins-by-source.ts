// The plugins of volumes behind claims, CSI volumes and network disks, by the field of a pod's volume that has them.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { MIGRATED_FIELDS, type MigratedField } from "../csi/migrated-plugins.js";
import { flexVolumePlugin } from "../flex/plugin.js";
import { lazyPlugin } from "../lazy-plugin.js";
import type { VolumePlugin } from "../plugin.js";
import type { ClaimStats } from "./claim-stats.js";
import { inlineCsiPlugin, migratedPlugin } from "./inline-plugins.js";
import { LOCAL_PLUGIN, type LocalVolumes } from "./local.js";
import { nfsPlugin } from "./nfs-plugin.js";
import { persistentPlugin, type PersistentPluginDeps } from "./persistent-plugin.js";

export type PersistentPlugins = Record<
  "claim" | "ephemeral" | "csi" | "nfs" | "flexVolume" | "iscsi" | "fc" | "local" | MigratedField,
  VolumePlugin
>;

export function pluginsBySource(rootDir: string, deps: PersistentPluginDeps, stats: ClaimStats): PersistentPlugins {
  const { csi, cluster, nfs, flex, iscsi, fc, local } = deps;
  const migrated = MIGRATED_FIELDS.map((field) => [field, migratedPlugin(field, csi, cluster)] as const);
  const iscsiCode = async (): Promise<VolumePlugin> => (await import("../iscsi/plugin.js")).iscsiPlugin(iscsi);
  const fcCode = async (): Promise<VolumePlugin> => (await import("../fc/plugin.js")).fcPlugin(fc);
  return {
    claim: persistentPlugin(deps, "persistentVolumeClaim"),
    ephemeral: persistentPlugin(deps, "ephemeral"),
    csi: forgetting(stats, inlineCsiPlugin(csi, cluster)),
    ...(Object.fromEntries(migrated) as Record<MigratedField, VolumePlugin>),
    nfs: forgetting(stats, nfsPlugin(rootDir, nfs)),
    flexVolume: forgetting(stats, flexVolumePlugin(flex)),
    iscsi: forgetting(stats, lazyPlugin({ name: "kubernetes.io/iscsi", source: "iscsi", load: iscsiCode })),
    fc: forgetting(stats, lazyPlugin({ name: "kubernetes.io/fc", source: "fc", load: fcCode })),
    local: forgetting(stats, localPlugin(local)),
  };
}

/** Local volumes are found on disk; no field of a pod names one. */
function localPlugin(local: LocalVolumes): VolumePlugin {
  return {
    name: LOCAL_PLUGIN,
    source: "",
    setUp: () => Promise.reject(new Error("local volumes are behind claims")),
    tearDown: (uid, name) => local.tearDown(uid, name),
    unmapDevice: (uid, name) => local.unmap(uid, name),
  };
}

/** The plugin, whose teardown also ends the figures of the volume. */
function forgetting(stats: ClaimStats, plugin: VolumePlugin): VolumePlugin {
  return omitUndefined({
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
}
