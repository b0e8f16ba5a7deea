// One label or annotation of the pod, as downward API fields name it.

import { isQualifiedName } from "../../../shared/kubernetes/api/manifest/formats.js";

/** "metadata.labels['KEY']"; in keys of annotations upper case counts as lower case. */
export function isSubscripted(fieldPath: string): boolean {
  const [, map, key = ""] = /^metadata\.(labels|annotations)\['([^]*)'\]$/.exec(fieldPath) ?? [];
  return map !== undefined && isQualifiedName(map === "labels" ? key : key.toLowerCase());
}
