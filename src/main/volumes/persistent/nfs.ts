// nfs, by the mount helper of the node: of claims, and as a pod names it itself.

import type { NFSVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { MountedVolumes } from "../file-system/mounted-volume.js";
import type { mountByProgram } from "../file-system/program-mount.js";
import type { HostPlace } from "../place.js";
import { VolumeError } from "../volume-error.js";

export const NFS_PLUGIN = "kubernetes.io/nfs";

export interface NfsRequest {
  uid: PodUid;
  /** Directory below the pod's volumes: the PV's name, or the volume's. */
  name: string;
  nfs: NFSVolumeSource;
  readOnly: boolean;
  mountOptions: readonly string[];
  signal: AbortSignal;
}

export class NfsVolumes {
  private readonly mounted: MountedVolumes;

  constructor(rootDir: string, mount?: typeof mountByProgram) {
    const kind = { rootDir, plugin: NFS_PLUGIN, kind: "nfs" as const };
    this.mounted = new MountedVolumes(mount === undefined ? kind : { ...kind, mount });
  }

  /** Idempotent. @throws VolumeError. The volume's own group is the server's affair: fsGroup does not apply. */
  async setUp({ uid, name, nfs, readOnly, mountOptions, signal }: NfsRequest): Promise<HostPlace> {
    const { server } = nfs;
    // mount(8) passes the source on to mount.nfs without "--": one that begins with '-' would be read as options.
    if (server.startsWith("-")) {
      throw new VolumeError(`nfs server ${JSON.stringify(server)} must not begin with '-': name a host or an address`);
    }
    // The helper takes IPv6 addresses in brackets only.
    const host = server.includes(":") && !server.startsWith("[") ? `[${server}]` : server;
    const options = [...(readOnly ? ["ro"] : []), ...mountOptions];
    const hostPath = await this.mounted.setUp({ uid, name, source: `${host}:${nfs.path}`, options, signal });
    return { hostPath, volumeName: name, readOnly: readOnly ? true : undefined };
  }

  tearDown(uid: PodUid, name: string): Promise<void> {
    return this.mounted.tearDown(uid, name);
  }
}
