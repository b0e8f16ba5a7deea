// nfs as a pod names it itself: needs no cluster. Loaded with the first such volume.

import { asVolumeErrors } from "../claims/volume-errors.js";
import type { VolumePlugin } from "../plugin.js";
import { NfsVolumes, NFS_PLUGIN } from "./nfs.js";

export function nfsPlugin(rootDir: string, nfs = new NfsVolumes(rootDir)): VolumePlugin {
  return {
    name: NFS_PLUGIN,
    source: "nfs",
    setUp: (request) =>
      asVolumeErrors(request, async () => {
        const { pod, volume, signal } = request;
        const source = volume.nfs ?? { server: "", path: "" };
        const readOnly = source.readOnly === true;
        return nfs.setUp({ uid: pod.metadata.uid, name: volume.name, nfs: source, readOnly, mountOptions: [], signal });
      }),
    tearDown: (uid, name) => nfs.tearDown(uid, name),
  };
}
