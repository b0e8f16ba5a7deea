// iSCSI volumes of pods and of claims. Loaded with the first of them, or with a disk that an earlier kubelet left.

import { SECRETS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ISCSIVolumeSource } from "../../../shared/kubernetes/api/volume.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import type { DiskVolumesOptions } from "../disks/disk-volumes.js";
import { DISK_SYSTEM } from "../disks/disk.js";
import { networkDiskPlugin, networkDisks, type NetworkDiskRequest, type NetworkDisks } from "../disks/network-disks.js";
import type { VolumePlugin } from "../plugin.js";
import { VolumeError } from "../volume-error.js";
import { ISCSI_PLUGIN, IscsiDisks } from "./iscsi-disk.js";
import { Iscsiadm, type Chap } from "./iscsiadm.js";
import { targetOf } from "./target.js";

export interface IscsiOptions extends DiskVolumesOptions {
  /** Absent on a stand-alone node: it has no secrets. */
  cluster?: ClusterAccess | undefined;
}

export function iscsiVolumes(
  options: IscsiOptions,
  { system = DISK_SYSTEM, program = "iscsiadm" } = {},
): Promise<NetworkDisks<ISCSIVolumeSource>> {
  const { clock } = options.ownership;
  const disks = new IscsiDisks({ admin: new Iscsiadm(clock, program), clock, log: options.log, system });
  return networkDisks<ISCSIVolumeSource>(disks.kind, options, (request) => {
    const { source, name } = request;
    return disks.disk(targetOf(source, name), source.targetPortal, () => chapOf(request, options.cluster));
  });
}

export function iscsiPlugin(disks: () => Promise<NetworkDisks<ISCSIVolumeSource>>): VolumePlugin {
  return networkDiskPlugin({ name: ISCSI_PLUGIN, source: "iscsi", sourceOf: ({ iscsi }) => iscsi }, disks);
}

/** @throws VolumeError, ApiError, ApiConnectionError */
async function chapOf(
  { pod, source, signal }: NetworkDiskRequest<ISCSIVolumeSource>,
  cluster: ClusterAccess | undefined,
): Promise<Chap> {
  const { chapAuthDiscovery: discovery = false, chapAuthSession: session = false, secretRef } = source;
  if (!discovery && !session) return { discovery, session, secret: {} };
  const { name = "", namespace = pod.metadata.namespace } = secretRef ?? {};
  if (name === "" || namespace === "") throw new VolumeError("CHAP enabled but secret name or namespace is empty");
  if (cluster === undefined) {
    throw new VolumeError(`couldn't get secret ${namespace}/${name}: a stand-alone node has no secrets`);
  }
  const { data = {} } = await joined(cluster).client.get(SECRETS, { name, namespace }, { signal });
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]);
  return { discovery, session, secret: Object.fromEntries(entries) as Record<string, string> };
}
