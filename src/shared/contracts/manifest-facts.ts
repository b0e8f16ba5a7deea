// What the kubelet knows about each manifest of its static pods: refused, shadowed and warned ones with the reason.
// Main sends it to the servers' threads after each change, so that it is shown while main hangs.
// Invariant: bounded by NodeManifests.items and by the lengths of texts; it has no value of a variable, command or
// annotation.

import type { ViolationReason } from "../kubernetes/api/manifest/violation.js";

/** A file of staticPodPath, the URL of staticPodURL, or a manifest that a client sent to the manifest API. */
export type ManifestSource = "file" | "url" | "manifest-api";

export interface ManifestProblem {
  /**
   * refused: the manifest, or its newest version, makes no pod. shadowed: another pod has the name or UID of its pod.
   * warning: a part of it is ignored.
   */
  kind: "refused" | "shadowed" | "warning";
  /** A sentence without the position. */
  message: string;
  /** Field path, e.g. "spec.containers[0].image"; "" for the manifest as a whole. */
  field: string;
  /** From 1; 0: the manifest as a whole. */
  line: number;
  column: number;
  /** Set for a refused manifest. "unreadable": the file or URL cannot be read. */
  reason?: ViolationReason | "unreadable";
  /** Since when the kubelet knows of it, milliseconds since the epoch. */
  since: number;
  /** Set for a shadowed manifest: the pod's full name, "namespace/name". */
  pod?: string;
  /** Set for a shadowed manifest: the origin of the pod that runs in its place. */
  runs?: string;
}

export interface ManifestFacts {
  /** Path of the file, URL without its password, or "namespace/name" in the manifest API. */
  origin: string;
  source: ManifestSource;
  /** Full names of the pods of the last version that was accepted. */
  pods: string[];
  /** Full names that a refused text gives its pods, as far as they can be read; without the node's name. */
  claims: string[];
  /** The first refused or shadowed problem counts, then warnings. Empty: the manifest is accepted. */
  problems: ManifestProblem[];
}

/** GET /nodelet/manifests */
export interface NodeManifests {
  /** The configured path and URL. */
  configured: string[];
  /** Manifests with problems come first. */
  items: ManifestFacts[];
  /** Manifests with problems that are left out of the items. */
  more: number;
}

export const NO_MANIFESTS: NodeManifests = { configured: [], items: [], more: 0 };
