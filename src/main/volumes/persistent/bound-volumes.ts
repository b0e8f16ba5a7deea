// Mounts the volume behind a claim by the plugin of its kind.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { CSIPersistentVolumeSource, PersistentVolume } from "../../../shared/kubernetes/api/objects.js";
import type { FCVolumeSource, ISCSIVolumeSource, Volume } from "../../../shared/kubernetes/api/volume.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import { isBlock, type BoundClaim } from "../claims/claim.js";
import { csiPlugin, persistentVolume, type CsiVolume } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import type { NetworkDiskRequest, NetworkDisks } from "../disks/network-disks.js";
import { VolumeSetUpError } from "../errors.js";
import type { FlexVolumes } from "../flex/flex-volumes.js";
import { flexPlugin } from "../flex/names.js";
import { hostPathPlugin } from "../host-path/plugin.js";
import type { VolumePlace } from "../place.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import { mountOptionsOf } from "../pv-annotations.js";
import { LOCAL_PLUGIN, type LocalVolumes } from "./local.js";
import { NFS_PLUGIN, type NfsVolumes } from "./nfs.js";

export interface BoundVolumesDeps {
  csi: () => Promise<CsiVolumes>;
  local: LocalVolumes;
  nfs: NfsVolumes;
  flex: () => Promise<FlexVolumes>;
  iscsi: () => Promise<NetworkDisks<ISCSIVolumeSource>>;
  fc: () => Promise<NetworkDisks<FCVolumeSource>>;
  calls: VolumeCalls;
}

export class BoundVolumes {
  private readonly hostPath: VolumePlugin;

  constructor(private readonly deps: BoundVolumesDeps) {
    this.hostPath = hostPathPlugin(deps.calls);
  }

  /** @throws VolumeSetUpError for a kind that is not supported, and the errors of each kind */
  async mount(request: SetUpRequest, bound: BoundClaim): Promise<VolumePlace> {
    const { pod, volume, signal } = request;
    const { pv, readOnly, migrated } = bound;
    const { csi, local, nfs, flexVolume, iscsi, fc } = pv.spec;
    const name = pv.metadata.name ?? "";
    const onPluginKnown = (plugin: string): void => request.onPluginKnown?.({ plugin, migrated, block: isBlock(pv) });
    if (csi !== undefined) {
      onPluginKnown(csiPlugin(csi.driver));
      const wanted = { pod, volume: csiOf(bound, csi), podVolume: volume.name, signal };
      const volumes = await this.deps.csi();
      return isBlock(pv) ? volumes.map(wanted) : volumes.setUpMount(wanted);
    }
    if (local !== undefined) {
      onPluginKnown(LOCAL_PLUGIN);
      const wanted = { pod, pv, readOnly, signal };
      return isBlock(pv) ? this.deps.local.map(wanted) : this.deps.local.setUp(wanted);
    }
    if (nfs !== undefined && !isBlock(pv)) {
      onPluginKnown(NFS_PLUGIN);
      const { uid } = pod.metadata;
      const mountOptions = mountOptionsOf(pv);
      return this.deps.nfs.setUp({ uid, name, nfs, readOnly: readOnly || nfs.readOnly === true, mountOptions, signal });
    }
    if (flexVolume !== undefined && !isBlock(pv)) {
      onPluginKnown(flexPlugin(flexVolume.driver));
      const asked = { pod, name, source: flexVolume, readOnly: readOnly || flexVolume.readOnly === true };
      return (await this.deps.flex()).setUp({ ...asked, signal, retryNow: request.retryNow });
    }
    if (iscsi !== undefined) {
      onPluginKnown("kubernetes.io/iscsi");
      const asked = { pod, name, source: iscsi, readOnly: readOnly || iscsi.readOnly === true };
      return placed(await this.deps.iscsi(), { ...asked, ...ofVolume(pv), podVolume: volume.name, signal }, pv);
    }
    if (fc !== undefined) {
      onPluginKnown("kubernetes.io/fc");
      const asked = { pod, name, source: fc, readOnly: readOnly || fc.readOnly === true };
      return placed(await this.deps.fc(), { ...asked, ...ofVolume(pv), podVolume: volume.name, signal }, pv);
    }
    if (pv.spec.hostPath !== undefined && !isBlock(pv)) {
      onPluginKnown(this.hostPath.name);
      const { path, type } = pv.spec.hostPath;
      const source = { name: volume.name, hostPath: omitUndefined<NonNullable<Volume["hostPath"]>>({ path, type }) };
      const place = await this.hostPath.setUp({ pod, volume: source, signal });
      return readOnly ? { ...place, readOnly: true } : place;
    }
    throw new VolumeSetUpError(
      pod,
      volume.name,
      `persistent volume ${name} is of a kind that is not supported${isBlock(pv) ? " as a device" : ""}: ` +
        "use csi, local, nfs, iscsi, fc, flexVolume or hostPath",
    );
  }
}

export function csiOf({ pv, readOnly, migrated }: BoundClaim, csi: CSIPersistentVolumeSource): CsiVolume {
  return persistentVolume(pv, csi, readOnly, migrated);
}

function ofVolume(pv: PersistentVolume): Pick<NetworkDiskRequest<unknown>, "mountOptions" | "accessModes"> {
  return { mountOptions: mountOptionsOf(pv), accessModes: pv.spec.accessModes ?? [] };
}

function placed<Source>(
  disks: NetworkDisks<Source>,
  request: NetworkDiskRequest<Source>,
  pv: PersistentVolume,
): Promise<VolumePlace> {
  return isBlock(pv) ? disks.map(request) : disks.setUp(request);
}
