// Merges one source over another as JSON merge patch does (RFC 7386), like upstream's drop-ins. Maps merge key by key,
// other values are replaced whole, and null removes a value. Every value keeps its own origin.

import type { Tree, MapNode } from "./tree.js";

/** `patch` over `target`. Without nulls in the patches, merging is associative. @internal */
export function merge(target: Tree | undefined, patch: Tree): Tree {
  if (patch.kind !== "map") return patch;
  return mergeMaps(target?.kind === "map" ? target : undefined, patch);
}

/** `merge` for roots, which are maps always. */
export function mergeMaps(target: MapNode | undefined, patch: MapNode): MapNode {
  const entries = new Map(target?.entries);
  for (const [key, value] of patch.entries) {
    if (value.kind === "scalar" && value.value === null) entries.delete(key);
    else entries.set(key, merge(entries.get(key), value));
  }
  return { kind: "map", entries, origin: patch.origin };
}
