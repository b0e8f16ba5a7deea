// Finds pods of manifests that do not run because another pod has their name or UID. Pure.
// A pod that waits for the termination of an earlier one is not shadowed: it starts by itself.

import type { ManifestProblem, ManifestSource } from "../../../shared/contracts/manifest-facts.js";
import { podFullName, type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { ManifestState } from "./manifest-state.js";
import type { PodSourceName } from "./merge.js";

/** The pod that runs under a full name. */
export interface NameOwner {
  uid: PodUid;
  /** It is terminating: the next pod of that name starts after it. */
  isEnding: boolean;
}

export interface ShadowInputs {
  ownerOf: (fullName: string) => NameOwner | undefined;
  /** The source whose pod of this UID counts. */
  sourceOf: (uid: PodUid) => PodSourceName | undefined;
}

export type Shadowed = Pick<ManifestProblem, "message" | "pod" | "runs">;

const SOURCES: Readonly<Record<PodSourceName, ManifestSource | undefined>> = {
  file: "file",
  http: "url",
  submitted: "manifest-api",
  api: undefined,
};
const OF_THE_API = "the API server";

/** By manifest; only manifests with such pods are in the result. */
export function shadowedPods(
  manifests: readonly ManifestState[],
  inputs: ShadowInputs,
): Map<ManifestState, Shadowed[]> {
  const origins = originsByUid(manifests, inputs);
  const found = new Map<ManifestState, Shadowed[]>();
  for (const manifest of manifests) {
    const shadowed: Shadowed[] = [];
    const seen = new Set<PodUid>();
    for (const pod of manifest.pods) {
      const one = shadowOf(pod, manifest, seen, origins, inputs);
      if (one !== undefined) shadowed.push(one);
      seen.add(pod.metadata.uid);
    }
    if (shadowed.length > 0) found.set(manifest, shadowed);
  }
  return found;
}

/** The manifest whose pod of that UID counts: of several in one source the first. */
function originsByUid(manifests: readonly ManifestState[], { sourceOf }: ShadowInputs): Map<PodUid, string> {
  const origins = new Map<PodUid, string>();
  for (const { origin, source, pods } of manifests) {
    for (const { metadata } of pods) {
      const counts = sourceOf(metadata.uid);
      if (!origins.has(metadata.uid) && (counts === undefined || SOURCES[counts] === source)) {
        origins.set(metadata.uid, origin);
      }
    }
  }
  return origins;
}

function shadowOf(
  pod: Pod,
  manifest: ManifestState,
  seen: ReadonlySet<PodUid>,
  origins: ReadonlyMap<PodUid, string>,
  { ownerOf }: ShadowInputs,
): Shadowed | undefined {
  const { uid, namespace, name } = pod.metadata;
  const full = `${namespace}/${name}`;
  const counts = origins.get(uid) ?? OF_THE_API;
  if (counts !== manifest.origin || seen.has(uid)) {
    return {
      pod: full,
      runs: counts,
      message: `its pod ${full} does not run: ${counts} has the same pod, with UID ${uid}`,
    };
  }
  const owner = ownerOf(podFullName(pod));
  if (owner === undefined || owner.uid === uid || owner.isEnding) return undefined;
  const runs = origins.get(owner.uid) ?? OF_THE_API;
  const where = runs === manifest.origin ? "an earlier pod of this manifest" : `the pod of ${runs}`;
  return { pod: full, runs, message: `its pod ${full} does not run: ${where} has that name and runs` };
}
