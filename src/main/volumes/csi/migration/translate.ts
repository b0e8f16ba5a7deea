// A volume of a cloud as its CSI driver's volume. Pure. Claims bind to persistent volumes as they are: only what this node
// does with them is another's.
import type { PersistentVolume, NodeSelectorTerm } from "../../../../shared/api/objects.js";
import type { Pod } from "../../../../shared/api/pod.js";
import type { Volume } from "../../../../shared/api/volume.js";
import { migratedField, type MigratedField } from "../migrated-plugins.js";
import { CLOUDS, type Source, ZONES_DELIMITER, type Cloud } from "./clouds.js";

/** undefined: it is no such volume. @throws CsiSpecError */
export function migratedVolume(pv: PersistentVolume): PersistentVolume | undefined {
  const field = migratedField(pv.spec);
  if (field === undefined) return undefined;
  const cloud = CLOUDS[field];
  const { csi, accessModes = pv.spec.accessModes } = cloud.csi(sourceOf(pv.spec, field), {
    ...{ pv, volume: "", namespace: "" },
  });
  const nodeAffinity = cloudAffinity(pv, cloud);
  const spec = { ...pv.spec };
  Reflect.deleteProperty(spec, field);
  return {
    ...pv,
    spec: {
      ...spec,
      csi: { driver: cloud.driver, ...csi },
      ...(accessModes === undefined ? {} : { accessModes }),
      ...(nodeAffinity === undefined ? {} : { nodeAffinity }),
    },
  };
}

/** Of a volume that the pod names itself: the persistent volume that it might be. undefined as above. @throws CsiSpecError */
export function migratedInline(pod: Pod, volume: Volume): PersistentVolume | undefined {
  const field = migratedField(volume);
  if (field === undefined) return undefined;
  const cloud = CLOUDS[field];
  const { driver } = cloud;
  const { namespace } = pod.metadata;
  const { csi, accessModes = ["ReadWriteOnce"] } = cloud.csi(sourceOf(volume, field), {
    volume: volume.name,
    namespace,
  });
  const name = nameOf(field, driver, csi.volumeHandle, volume);
  return { metadata: { name }, spec: { accessModes, volumeMode: "Filesystem", csi: { driver, ...csi } } };
}

/** Part of paths on disk: the same as upstream's, which may take the node over. */
function nameOf(field: MigratedField, driver: string, handle: string, volume: Volume): string {
  switch (field) {
    case "azureDisk":
    case "azureFile":
      return handle;
    case "gcePersistentDisk":
      return `${driver}-${String(sourceOf(volume, field)["pdName"])}`;
    default:
      return `${driver}-${handle}`;
  }
}

function sourceOf(spec: Readonly<Record<string, unknown>>, field: MigratedField): Source {
  const source = spec[field];
  return typeof source === "object" && source !== null ? (source as Source) : {};
}

// Zones and regions of a cloud's volume, as labels of the nodes of its CSI driver. Pure.

type Affinity = PersistentVolume["spec"]["nodeAffinity"];
interface Labels {
  zone: string;
  region: string;
}

const CURRENT: Labels = { zone: "topology.kubernetes.io/zone", region: "topology.kubernetes.io/region" };
const BETA: Labels = {
  zone: "failure-domain.beta.kubernetes.io/zone",
  region: "failure-domain.beta.kubernetes.io/region",
};

/** The volume's node affinity comes before its labels. @internal */
export function cloudAffinity(pv: PersistentVolume, cloud: Cloud): Affinity {
  const { zoneKey, regionKey } = cloud;
  let terms = pv.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  if (zoneKey === undefined) return pv.spec.nodeAffinity;
  const known = labelsOf(pv, terms);
  terms = moved(pv, terms, known.zone, zoneKey, cloud.manyZones === true);
  if (regionKey !== undefined) terms = moved(pv, terms, known.region, regionKey, false);
  else if (known === BETA) terms = renamed(terms, BETA.region, CURRENT.region);
  return terms.length === 0 ? pv.spec.nodeAffinity : { required: { nodeSelectorTerms: terms } };
}

function moved(
  pv: PersistentVolume,
  terms: NodeSelectorTerm[],
  label: string,
  key: string,
  many: boolean,
): NodeSelectorTerm[] {
  if (terms.some(({ matchExpressions = [] }) => matchExpressions.some((one) => one.key === label))) {
    return renamed(terms, label, key);
  }
  const text = pv.metadata.labels?.[label] ?? "";
  const values = (many ? text.split(ZONES_DELIMITER) : [text]).map((value) => value.trim()).filter(Boolean);
  if (values.length === 0) return terms;
  const requirement = { key, operator: "In" as const, values: [...new Set(values)].sort() };
  return (terms.length === 0 ? [{}] : terms).map((term: NodeSelectorTerm) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), requirement],
  }));
}

function renamed(terms: readonly NodeSelectorTerm[], from: string, to: string): NodeSelectorTerm[] {
  return terms.map(({ matchExpressions, ...term }) => ({
    ...term,
    ...(matchExpressions === undefined
      ? {}
      : { matchExpressions: matchExpressions.map((one) => (one.key === from ? { ...one, key: to } : one)) }),
  }));
}

function labelsOf(pv: PersistentVolume, terms: readonly NodeSelectorTerm[]): Labels {
  const selected = (key: string): boolean =>
    terms.some(({ matchExpressions = [] }) => matchExpressions.some((one) => one.key === key));
  if (selected(CURRENT.zone)) return CURRENT;
  if (selected(BETA.zone)) return BETA;
  const labels = pv.metadata.labels ?? {};
  return labels[CURRENT.zone] === undefined && labels[BETA.zone] !== undefined ? BETA : CURRENT;
}
