// Flags over the configuration: a flag writes the field it mirrors and disturbs no other. Feature gates merge key by
// key, the flag winning; --seccomp-default can only turn on; --runonce is a mode of this start, not a field.

import type { FieldPath } from "../fields/fields.js";
import { encode } from "./field-values.js";
import { mergeMaps } from "./merge.js";
import { type Origin } from "./origin.js";
import { FIELD_ROWS, FIELD_SHAPES } from "./shape.js";
import { type MapNode, withNode, treeOf, at } from "./tree.js";

/** A decoded value, of its field's type. */
export interface FlagValue {
  readonly value: unknown;
}

/** Flag (without dashes) → the field it writes. */
const FIELD_OF_FLAG: ReadonlyMap<string, FieldPath> = new Map(
  FIELD_ROWS.flatMap(([path, { flag }]) => (flag === undefined || flag === "runonce" ? [] : [[flag, path]])),
);

export function withFlags(tree: MapNode, flags: ReadonlyMap<string, FlagValue>): MapNode {
  let written = tree;
  for (const [flag, { value }] of flags) {
    const origin: Origin = { kind: "flag", flag };
    const path = FIELD_OF_FLAG.get(flag);
    const shape = path === undefined ? undefined : FIELD_SHAPES.get(path);
    if (flag === "seccomp-default") {
      if (value === true) written = withNode(written, "seccompDefault", treeOf(true, origin));
    } else if (path !== undefined && shape !== undefined) {
      const node = encode(shape, value, origin);
      const before = path === "featureGates" ? at(written, path) : undefined;
      written = withNode(written, path, before?.kind === "map" && node.kind === "map" ? mergeMaps(before, node) : node);
    }
  }
  return written;
}
