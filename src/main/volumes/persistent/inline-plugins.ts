// Volumes in the pod's own spec: CSI ephemeral volumes, and in-tree cloud volumes that a CSI driver serves. Loaded with
// the first of them.

import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import { asVolumeErrors } from "../claims/volume-errors.js";
import { csiPlugin, inlineVolume, persistentVolume, type CsiVolume } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import type { MigratedField } from "../csi/migrated-plugins.js";
import { migratedInline } from "../csi/migration/translate.js";
import { CSI_PLUGIN } from "../csi/paths.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import { VolumeError } from "../volume-error.js";

const MIGRATED_PLUGIN = "kubernetes.io/csi-migration";

/** Set-up and refresh of a volume that `inline` reads from the pod. */
function mountedByDriver(
  csi: () => Promise<CsiVolumes>,
  inline: (request: SetUpRequest) => CsiVolume,
): Required<Pick<VolumePlugin, "setUp" | "refresh">> {
  return {
    setUp: (request) =>
      asVolumeErrors(request, async () => {
        const { pod, volume, signal } = request;
        return (await csi()).setUpMount({ pod, volume: inline(request), podVolume: volume.name, signal });
      }),
    refresh: (request) =>
      asVolumeErrors(request, async () => {
        const { pod, volume, signal } = request;
        await (await csi()).republish({ pod, volume: inline(request), podVolume: volume.name, signal });
      }),
  };
}

export function inlineCsiPlugin(csi: () => Promise<CsiVolumes>, cluster: ClusterAccess): VolumePlugin {
  const inline = ({ pod, volume, onPluginKnown }: SetUpRequest): CsiVolume => {
    joined(cluster);
    const source = volume.csi ?? { driver: "" };
    onPluginKnown?.({ plugin: csiPlugin(source.driver) });
    return inlineVolume(pod, volume, source);
  };
  return {
    name: CSI_PLUGIN,
    source: "csi",
    indirect: true,
    ...mountedByDriver(csi, inline),
    // Also for volumes of claims: the files on disk do not show the difference.
    tearDown: async (uid, spec, onPluginKnown) => (await csi()).tearDownMount(uid, spec, onPluginKnown),
    unmapDevice: async (uid, spec, onPluginKnown) => (await csi()).unmap(uid, spec, onPluginKnown),
  };
}

/** Its directory on disk is that of any CSI volume. */
export function migratedPlugin(
  source: MigratedField,
  csi: () => Promise<CsiVolumes>,
  cluster: ClusterAccess,
): VolumePlugin {
  const inline = ({ pod, volume, onPluginKnown }: SetUpRequest): CsiVolume => {
    joined(cluster);
    const pv = migratedInline(pod, volume);
    if (pv?.spec.csi === undefined) throw new VolumeError(`the volume has no ${source}`);
    onPluginKnown?.({ plugin: csiPlugin(pv.spec.csi.driver), migrated: true });
    return { ...persistentVolume(pv, pv.spec.csi, pv.spec.csi.readOnly === true, true), attachAs: pv.spec };
  };
  return {
    name: MIGRATED_PLUGIN,
    source,
    indirect: true,
    ...mountedByDriver(csi, inline),
  };
}
