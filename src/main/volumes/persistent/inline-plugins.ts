// Volumes that a pod names itself: a CSI driver's that lives as long as the pod, and nfs. Loaded with the first of them.
import { joined } from "../../cluster/joined.js";
import type { ClusterAccess } from "../../cluster/port.js";
import { inlineVolume, type CsiVolume } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import { CSI_PLUGIN } from "../csi/paths.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import { NFS_PLUGIN, type NfsVolumes } from "./nfs.js";
import { told } from "./persistent-plugin.js";

export function inlineCsiPlugin(csi: () => Promise<CsiVolumes>, cluster: ClusterAccess): VolumePlugin {
  const inline = ({ pod, volume }: SetUpRequest): CsiVolume => {
    joined(cluster);
    return inlineVolume(pod, volume, volume.csi ?? { driver: "" });
  };
  return {
    name: CSI_PLUGIN,
    source: "csi",
    setUp: (request) =>
      told(request, async () => {
        const { pod, signal } = request;
        return (await csi()).setUpMount({ pod, volume: inline(request), signal });
      }),
    refresh: (request) =>
      told(request, async () => {
        const { pod, signal } = request;
        await (await csi()).republish({ pod, volume: inline(request), signal });
      }),
    // Of claims too: what is on disk does not tell.
    tearDown: async (uid, spec) => (await csi()).tearDownMount(uid, spec),
    unmapDevice: async (uid, spec) => (await csi()).unmap(uid, spec),
  };
}

export function nfsPlugin(nfs: NfsVolumes): VolumePlugin {
  return {
    name: NFS_PLUGIN,
    source: "nfs",
    setUp: (request) =>
      told(request, async () => {
        const { pod, volume, signal } = request;
        const source = volume.nfs ?? { server: "", path: "" };
        const readOnly = source.readOnly === true;
        return nfs.setUp({ uid: pod.metadata.uid, name: volume.name, nfs: source, readOnly, mountOptions: [], signal });
      }),
    tearDown: (uid, name) => nfs.tearDown(uid, name),
  };
}
