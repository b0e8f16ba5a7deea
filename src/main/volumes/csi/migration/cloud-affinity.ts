// Zones and regions of a cloud's volume, as labels of the nodes of its CSI driver. Pure.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { PersistentVolume, NodeSelectorTerm } from "../../../../shared/kubernetes/api/objects.js";
import { type Cloud, ZONES_DELIMITER } from "./clouds.js";

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

/** The volume's node affinity comes before its labels. */
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
  return terms.map(({ matchExpressions, ...term }) =>
    omitUndefined({
      ...term,
      matchExpressions:
        matchExpressions === undefined
          ? undefined
          : matchExpressions.map((one) => (one.key === from ? { ...one, key: to } : one)),
    }),
  );
}

function labelsOf(pv: PersistentVolume, terms: readonly NodeSelectorTerm[]): Labels {
  const selected = (key: string): boolean =>
    terms.some(({ matchExpressions = [] }) => matchExpressions.some((one) => one.key === key));
  if (selected(CURRENT.zone)) return CURRENT;
  if (selected(BETA.zone)) return BETA;
  const labels = pv.metadata.labels ?? {};
  return labels[CURRENT.zone] === undefined && labels[BETA.zone] !== undefined ? BETA : CURRENT;
}
