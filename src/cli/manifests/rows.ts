// Rows of `nodelet pods` for manifests that make no pod: the file's name, InvalidManifest or ShadowedManifest, 0/0.
// Pure.

import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { ManifestFacts, NodeManifests } from "../../shared/contracts/manifest-facts.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import { podUid } from "../../shared/kubernetes/identifiers.js";
import { manifestWord, shortName, type ManifestWord } from "./texts.js";

/** Shown where a manifest names no namespace. */
const NONE = "-";

/** A manifest without a pod of its own, as `nodelet pods -o json` has it. */
export interface ManifestRow extends Pick<ManifestFacts, "origin" | "source" | "pods" | "problems"> {
  state: ManifestWord;
  /** Namespace of the pod that it would make; "-": not known. */
  namespace: string;
}

/** Those that make no pod; with `namespace`, those that may belong to it. */
export function manifestRows({ items }: NodeManifests, namespace?: string): ManifestRow[] {
  return items
    .map((manifest): ManifestRow => {
      const { origin, source, pods, problems } = manifest;
      return { origin, source, state: manifestWord(manifest), namespace: namespaceOf(manifest), pods, problems };
    })
    .filter((row) => row.state !== "Accepted")
    .filter((row) => namespace === undefined || row.namespace === NONE || row.namespace === namespace);
}

/** The row as a pod without containers, so that it is listed, counted and painted as pods are. */
export function rowAsPod(row: ManifestRow): Pod {
  const [first] = row.problems;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: shortName(row), namespace: row.namespace, uid: podUid(NONE) },
    spec: { containers: [] },
    status: omitUndefined({
      phase: "Pending",
      reason: row.state,
      startTime: first !== undefined ? new Date(first.since).toISOString() : undefined,
    }),
  };
}

function namespaceOf({ claims, problems }: ManifestFacts): string {
  const full = problems[0]?.pod ?? claims[0];
  return full === undefined ? NONE : full.slice(0, full.indexOf("/"));
}
