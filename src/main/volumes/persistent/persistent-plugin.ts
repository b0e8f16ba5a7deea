// Volumes behind claims. It finds the persistent volume and checks that this node and the pod may use it. Then it
// passes the volume to the plugin that mounts its kind. Loaded with the first pod that has a claim.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { termMatches, type SelectedNode } from "../../../shared/kubernetes/api/node-selector.js";
import type { CSIPersistentVolumeSource, PersistentVolume } from "../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { FCVolumeSource, ISCSIVolumeSource, Volume } from "../../../shared/kubernetes/api/volume.js";
import type { VolumeCalls } from "../../../shared/node/volume-calls/volume-calls.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import { boundClaim, isBlock, type BoundClaim } from "../claims/claim.js";
import { asVolumeErrors, stepError } from "../claims/volume-errors.js";
import { csiPlugin, persistentVolume, type CsiVolume } from "../csi/csi-volume.js";
import type { CsiVolumes } from "../csi/csi-volumes.js";
import type { NetworkDiskRequest, NetworkDisks } from "../disks/network-disks.js";
import { VolumeSetUpError } from "../errors.js";
import type { FlexVolumes } from "../flex/flex-volumes.js";
import { flexPlugin } from "../flex/names.js";
import { hostPathPlugin } from "../host-path/plugin.js";
import { isImagePlace, type VolumePlace } from "../place.js";
import type { SetUpRequest, VolumePlugin } from "../plugin.js";
import { groupOf, mountOptionsOf } from "../pv-annotations.js";
import type { VolumeExpansion } from "./expand.js";
import { LOCAL_PLUGIN, type LocalVolumes } from "./local.js";
import { NFS_PLUGIN, type NfsVolumes } from "./nfs.js";
const CLAIM_PLUGIN = "kubernetes.io/persistent-claim";

export interface PersistentPluginDeps {
  nodeName: string;
  cluster: ClusterAccess;
  csi: () => Promise<CsiVolumes>;
  local: LocalVolumes;
  nfs: NfsVolumes;
  flex: () => Promise<FlexVolumes>;
  iscsi: () => Promise<NetworkDisks<ISCSIVolumeSource>>;
  fc: () => Promise<NetworkDisks<FCVolumeSource>>;
  expansion: VolumeExpansion;
  calls: VolumeCalls;
  /** The pod uses that claim from now on. */
  onBound: (pod: Pod, volume: Volume, bound: BoundClaim, place: VolumePlace) => void;
}

export function persistentPlugin(
  deps: PersistentPluginDeps,
  source: "persistentVolumeClaim" | "ephemeral",
): VolumePlugin {
  const hostPath = hostPathPlugin(deps.calls);
  return {
    name: CLAIM_PLUGIN,
    source,
    indirect: true,
    async setUp(request) {
      const { pod, volume, signal } = request;
      return asVolumeErrors(request, async (named) => {
        const bound = await boundClaim(joined(deps.cluster).client, pod, volume, signal);
        named(bound.pv.metadata.name ?? "");
        checkAffinity(deps, pod, volume, bound.pv);
        await deps.expansion.arrives(bound);
        const place = withGroup(await mountOf(request, bound), groupOf(bound.pv));
        deps.onBound(pod, volume, bound, place);
        await deps.expansion.expand({ pod, bound, place, online: false, signal });
        return place;
      });
    },
    async refresh(request) {
      const { pod, volume, signal } = request;
      await asVolumeErrors(request, async (named) => {
        const bound = await boundClaim(joined(deps.cluster).client, pod, volume, signal);
        named(bound.pv.metadata.name ?? "");
        const { csi } = bound.pv.spec;
        if (csi === undefined && !deps.expansion.isDue(bound)) return;
        if (csi !== undefined && !isBlock(bound.pv))
          await (await deps.csi()).republish({ pod, volume: csiOf(bound, csi), podVolume: volume.name, signal });
        const place = await mountOf(request, bound);
        await deps.expansion.expand({ pod, bound, place, online: true, signal });
      });
    },
  };

  async function mountOf(request: SetUpRequest, bound: BoundClaim): Promise<VolumePlace> {
    const { pod, volume, signal } = request;
    const { pv, readOnly, migrated } = bound;
    const { csi, local, nfs, flexVolume, iscsi, fc } = pv.spec;
    const name = pv.metadata.name ?? "";
    const onPluginKnown = (plugin: string): void => request.onPluginKnown?.({ plugin, migrated, block: isBlock(pv) });
    if (csi !== undefined) {
      onPluginKnown(csiPlugin(csi.driver));
      const wanted = { pod, volume: csiOf(bound, csi), podVolume: volume.name, signal };
      const volumes = await deps.csi();
      return isBlock(pv) ? volumes.map(wanted) : volumes.setUpMount(wanted);
    }
    if (local !== undefined) {
      onPluginKnown(LOCAL_PLUGIN);
      const wanted = { pod, pv, readOnly, signal };
      return isBlock(pv) ? deps.local.map(wanted) : deps.local.setUp(wanted);
    }
    if (nfs !== undefined && !isBlock(pv)) {
      onPluginKnown(NFS_PLUGIN);
      const { uid } = pod.metadata;
      const mountOptions = mountOptionsOf(pv);
      return deps.nfs.setUp({ uid, name, nfs, readOnly: readOnly || nfs.readOnly === true, mountOptions, signal });
    }
    if (flexVolume !== undefined && !isBlock(pv)) {
      onPluginKnown(flexPlugin(flexVolume.driver));
      const asked = { pod, name, source: flexVolume, readOnly: readOnly || flexVolume.readOnly === true };
      return (await deps.flex()).setUp({ ...asked, signal, hurry: request.hurry });
    }
    if (iscsi !== undefined) {
      onPluginKnown("kubernetes.io/iscsi");
      const asked = { pod, name, source: iscsi, readOnly: readOnly || iscsi.readOnly === true };
      return placed(await deps.iscsi(), { ...asked, ...ofVolume(pv), podVolume: volume.name, signal }, pv);
    }
    if (fc !== undefined) {
      onPluginKnown("kubernetes.io/fc");
      const asked = { pod, name, source: fc, readOnly: readOnly || fc.readOnly === true };
      return placed(await deps.fc(), { ...asked, ...ofVolume(pv), podVolume: volume.name, signal }, pv);
    }
    if (pv.spec.hostPath !== undefined && !isBlock(pv)) {
      onPluginKnown(hostPath.name);
      const { path, type } = pv.spec.hostPath;
      const source = { name: volume.name, hostPath: omitUndefined<NonNullable<Volume["hostPath"]>>({ path, type }) };
      const place = await hostPath.setUp({ pod, volume: source, signal });
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

function withGroup(place: VolumePlace, group: number | undefined): VolumePlace {
  return group === undefined || isImagePlace(place) ? place : { ...place, group };
}

function csiOf({ pv, readOnly, migrated }: BoundClaim, csi: CSIPersistentVolumeSource): CsiVolume {
  return persistentVolume(pv, csi, readOnly, migrated);
}

function checkAffinity(
  { cluster, nodeName }: PersistentPluginDeps,
  pod: Pod,
  volume: Volume,
  pv: PersistentVolume,
): void {
  const labels = joined(cluster).node()?.metadata.labels ?? {};
  const problem = affinityProblem(pv, { name: nodeName, labels });
  if (problem === undefined) return;
  throw stepError(pod, volume, "MountVolume.NodeAffinity check", pv.metadata.name ?? "", problem);
}

/** The problem of the volume's node affinity on this node; undefined: the volume is usable here. */
function affinityProblem(pv: PersistentVolume, node: SelectedNode): string | undefined {
  const required = pv.spec.nodeAffinity?.required;
  if (required === undefined) return undefined;
  if (required.nodeSelectorTerms?.some((term) => termMatches(term, node)) === true) return undefined;
  return "no matching NodeSelectorTerms";
}
