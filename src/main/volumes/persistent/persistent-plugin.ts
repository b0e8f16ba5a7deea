// Volumes behind claims. It finds the persistent volume and checks that this node and the pod may use it. Then it
// passes the volume to the plugin that mounts its kind. Loaded with the first pod that has a claim.

import { termMatches, type SelectedNode } from "../../../shared/kubernetes/api/node-selector.js";
import type { PersistentVolume } from "../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Volume } from "../../../shared/kubernetes/api/volume.js";
import { type ClusterAccess } from "../../model/cluster-access.js";
import { joined } from "../../model/joined-cluster.js";
import { boundClaim, isBlock, type BoundClaim } from "../claims/claim.js";
import { asVolumeErrors, stepError } from "../claims/volume-errors.js";
import { isImagePlace, type VolumePlace } from "../place.js";
import type { VolumePlugin } from "../plugin.js";
import { groupOf } from "../pv-annotations.js";
import { BoundVolumes, csiOf, type BoundVolumesDeps } from "./bound-volumes.js";
import type { VolumeExpansion } from "./expand.js";

const CLAIM_PLUGIN = "kubernetes.io/persistent-claim";

export interface PersistentPluginDeps extends BoundVolumesDeps {
  nodeName: string;
  cluster: ClusterAccess;
  expansion: VolumeExpansion;
  /** The pod uses that claim from now on. */
  onBound: (pod: Pod, volume: Volume, bound: BoundClaim, place: VolumePlace) => void;
}

export function persistentPlugin(
  deps: PersistentPluginDeps,
  source: "persistentVolumeClaim" | "ephemeral",
): VolumePlugin {
  const volumes = new BoundVolumes(deps);
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
        const place = withGroup(await volumes.mount(request, bound), groupOf(bound.pv));
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
        const place = await volumes.mount(request, bound);
        await deps.expansion.expand({ pod, bound, place, online: true, signal });
      });
    },
  };
}

function withGroup(place: VolumePlace, group: number | undefined): VolumePlace {
  return group === undefined || isImagePlace(place) ? place : { ...place, group };
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
