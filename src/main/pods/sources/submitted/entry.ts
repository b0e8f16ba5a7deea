// A manifest of the manifest API, as main keeps it and as clients see it.

import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import type { KeptManifest, ManifestName } from "../../../../shared/contracts/manifests.js";
import type { Pod } from "../../../../shared/kubernetes/api/pod.js";
import type { Refusal } from "../manifest-state.js";
import type { FileOfManifest } from "./manifest-files.js";

export interface Entry extends FileOfManifest {
  metadata: string;
  spec: string;
  pod?: Pod;
  problem?: string;
  refused?: Refusal;
}

export function keptManifest({
  version,
  createdAt,
  namespace,
  name,
  metadata,
  spec,
  pod,
  problem,
}: Entry): KeptManifest {
  return omitUndefined({
    namespace,
    name,
    createdAt,
    metadata,
    spec,
    resourceVersion: String(version),
    uid: pod ? pod.metadata.uid : undefined,
    problem,
  });
}

export function keyOf({ namespace, name }: ManifestName): string {
  return `${namespace}/${name}`;
}
