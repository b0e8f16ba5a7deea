// The manifest API between the server thread, which speaks HTTP, and main, which keeps the manifests
// (docs/manifest-api.md). A call does not reject for a wrong request: its reply has the refusal.

import type { PodUid } from "../kubernetes/identifiers.js";

export type ManifestCall =
  | { op: "list"; /** One manifest only. */ of?: ManifestName | undefined }
  | { op: "create"; body: Uint8Array; dryRun: boolean }
  | { op: "replace"; of: ManifestName; body: Uint8Array; condition: Condition; dryRun: boolean }
  | {
      op: "delete";
      of: ManifestName;
      condition: Condition;
      dryRun: boolean;
      /** Instead of the pod's own; at least 0. */
      gracePeriodSeconds?: number;
    };

export interface ManifestName {
  namespace: string;
  /** As written in the manifest, without the node's name. */
  name: string;
}

/** Header values of RFC 9110, section 13.1; absent: not sent. */
export interface Condition {
  ifMatch?: string;
  ifNoneMatch?: string;
}

export interface KeptManifest extends ManifestName {
  /** Decimal; grows with every change of any manifest, and is the ETag. */
  resourceVersion: string;
  /** Milliseconds since the epoch: when a manifest of this name was first sent. */
  createdAt: number;
  /** metadata and spec as written: JSON objects. */
  metadata: string;
  spec: string;
  /** Its pod's; absent: the kubelet cannot run it, see `problem`. */
  uid?: PodUid;
  problem?: string;
}

export type ManifestReply =
  | {
      ok: true;
      /** Listed, or written: in the order of the text. Of a deletion: the manifest that was deleted. */
      manifests: KeptManifest[];
      created: boolean;
      /** Newest version of all manifests. */
      resourceVersion: string;
      /** One sentence each, with line and column. */
      warnings: string[];
    }
  | { ok: false; refusal: ManifestRefusal };

export interface ManifestRefusal {
  /** HTTP status. */
  code: number;
  /** metav1.StatusReason where it has one. */
  reason: string;
  message: string;
  causes?: { reason: string; message: string; field: string }[];
  /** One sentence each, with line and column: a misspelt field is often the cause of a missing one. */
  warnings?: string[];
}

/** Longest call: a text of 10 MiB on a busy machine, ms. */
export const MANIFEST_CALL_MS = 120_000;
/** As for manifest files and URLs. */
export const MANIFEST_BODY_LIMIT = 10 * 1024 * 1024;
/** Most submitted manifests of one node. */
export const MANIFESTS_LIMIT = 1000;
/** Bytes of all of them together; and of the files in the folder of manifests. */
export const MANIFESTS_BYTES = 32 * 1024 * 1024;
