// Values that no log, print, page or bundle may show. Of the HTTP responses only /configz shows them, as upstream's
// does.

import type { FieldPath } from "../fields/fields.js";
import { isFieldPath } from "./shape.js";
import { treeOf, type MapNode, type Tree } from "./tree.js";

/** Replaces a secret, in upstream's form. */
const MASK = "<masked>";

const SECRETS: ReadonlySet<FieldPath> = new Set<FieldPath>(["staticPodURLHeader"]);

/** A field's path, or one of something inside it ("staticPodURLHeader[Authorization]"). */
export function isSecret(path: string): boolean {
  const [field = ""] = path.split("[", 1);
  return isFieldPath(field) && SECRETS.has(field);
}

/** The tree with the entries of secret fields masked; names of headers are no secret. */
export function masked(tree: MapNode): MapNode {
  const entries = new Map(tree.entries);
  for (const path of SECRETS) {
    const secret = entries.get(path);
    if (secret !== undefined) entries.set(path, maskEntries(secret));
  }
  return { ...tree, entries };
}

function maskEntries(tree: Tree): Tree {
  if (tree.kind !== "map") return treeOf(MASK, tree.origin);
  const entries = [...tree.entries].map(([key, item]): [string, Tree] => [key, treeOf([MASK], item.origin)]);
  return { ...tree, entries: new Map(entries) };
}
