// The config maps and secrets that a pod refers to, and the index from object to pods. Objects with a volume are
// watched while the pod exists; the others are read when a container starts.

import { isRecord } from "../../../shared/base/text/is-record.js";
import { allContainersOf } from "../../../shared/kubernetes/api/pod-containers.js";
import { type Container, type Pod } from "../../../shared/kubernetes/api/pod.js";

export interface Reference {
  inVolume: boolean;
}

/** References of a pod and kind that are noted, those of volumes first. Other objects are read when they are needed. */
export const MOST_REFERENCES = 1024;

export interface PodReferences {
  /** By name in the pod's namespace. */
  configMaps: Map<string, Reference>;
  secrets: Map<string, Reference>;
  /** Volumes are made of ClusterTrustBundles. */
  trustBundles: boolean;
  /** Volumes hold certificates of the pod's own. */
  certificates: boolean;
}

export function referencesOf({ spec }: Pod): PodReferences {
  const found: PodReferences = { configMaps: new Map(), secrets: new Map(), trustBundles: false, certificates: false };
  const note = (kind: "configMaps" | "secrets", name: string | undefined, inVolume: boolean): void => {
    if (name === undefined || name === "") return;
    const before = found[kind].get(name)?.inVolume ?? false;
    found[kind].set(name, { inVolume: before || inVolume });
  };
  for (const { name } of spec.imagePullSecrets ?? []) note("secrets", name, false);
  for (const container of allContainersOf(spec)) {
    noteEnv(container, note);
  }
  for (const { configMap, secret, projected, ...others } of spec.volumes ?? []) {
    note("configMaps", configMap?.name, true);
    note("secrets", secret?.secretName, true);
    for (const source of projected?.sources ?? []) {
      note("configMaps", source.configMap?.name, true);
      note("secrets", source.secret?.name, true);
      found.trustBundles ||= source.clusterTrustBundle !== undefined;
      found.certificates ||= source.podCertificate !== undefined;
    }
    note("secrets", secretRefOf(others["csi"], "nodePublishSecretRef"), false);
  }
  return found;
}

/** The references that are noted: a pod may have tens of thousands. */
export function notedReferences(names: ReadonlyMap<string, Reference>): ReadonlyMap<string, Reference> {
  if (names.size <= MOST_REFERENCES) return names;
  const noted = new Map<string, Reference>();
  for (const volumes of [true, false]) {
    for (const [name, reference] of names) {
      if (noted.size === MOST_REFERENCES) return noted;
      if (reference.inVolume === volumes) noted.set(name, reference);
    }
  }
  return noted;
}

function noteEnv(
  { env = [], envFrom = [] }: Container,
  note: (kind: "configMaps" | "secrets", name: string | undefined, inVolume: boolean) => void,
): void {
  for (const { configMapRef, secretRef } of envFrom) {
    note("configMaps", configMapRef?.name, false);
    note("secrets", secretRef?.name, false);
  }
  for (const { valueFrom } of env) {
    note("configMaps", valueFrom?.configMapKeyRef?.name, false);
    note("secrets", valueFrom?.secretKeyRef?.name, false);
  }
}

function secretRefOf(source: unknown, field: string): string | undefined {
  const ref: unknown = isRecord(source) ? source[field] : undefined;
  const name = isRecord(ref) ? ref["name"] : undefined;
  return typeof name === "string" ? name : undefined;
}
