// The thread in which the nodelet command reads manifests, with the rules of the kubelet: one message for each text,
// one answer for each message, in order. A text that needs too much time or memory ends this thread and not the
// command.

import type { ManifestViolation, ManifestWarning } from "../kubernetes/api/manifest/violation.js";
import type { DecodeSubmittedJob, SubmittedPod } from "./tasks.js";

export type ReadManifestsJob = DecodeSubmittedJob;

/** A pod as it was written: metadata and spec are JSON. */
export type WrittenPod = Pick<SubmittedPod, "namespace" | "name" | "metadata" | "spec">;

/** The valid pods of one document, and everything wrong with the others. */
export interface ReadDocument {
  /** Its first line, from 1. */
  line: number;
  pods: WrittenPod[];
  warnings: ManifestWarning[];
  violations: ManifestViolation[];
}

export interface ReadManifestsResult {
  /** Documents without content are left out. */
  documents: ReadDocument[];
  /** Number of findings beyond the limit. */
  omitted: number;
}
