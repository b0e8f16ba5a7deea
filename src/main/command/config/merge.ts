// Puts one source over another as JSON merge patch has it (RFC 7386), which is upstream's way with drop-ins: maps merge
// key by key, anything else is replaced whole, null removes. Every value keeps its own origin.
import type { MapNode, Tree } from "./tree.js";

/** `patch` over `target`. Without nulls in the patches, merging is associative. */
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
