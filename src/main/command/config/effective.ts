// The configuration the kubelet runs with: defaults, file, drop-ins and flags together, every value with its origin.
// Rules and start-up read it by field; print and /configz walk it whole.

import type { FieldPath, FieldValue } from "../fields/fields.js";
import type { GateName } from "../gates/table.js";
import type { ConfigView } from "../rules/rule.js";
import { CONFIG_API_VERSION, CONFIG_KIND } from "./config-version.js";
import { canonical, decode, leavesOf, type Leaf } from "./field-values.js";
import type { Origin } from "./origin.js";
import { masked } from "./secrets.js";
import { FIELD_ROWS, FIELD_SHAPES } from "./shape.js";
import { at, NOTHING, plain, withNodes, type MapNode, type Tree } from "./tree.js";
import { wireTree } from "./wire.js";

const DEFAULT: Origin = { kind: "default" };
/** Objects that upstream has by pointer: given without a field they are there, and empty. */
const POINTED_OBJECTS = ["tracing", "userNamespaces"];

export class EffectiveConfig implements ConfigView {
  /** Fields in the order of their table, with every value written one way. */
  readonly tree: MapNode;
  private readonly values = new Map<FieldPath, unknown>();

  /** `tree` with defaults and flags in it; it holds nothing but known fields of their types. */
  constructor(
    tree: MapNode,
    readonly gate: (name: GateName) => boolean,
  ) {
    const nodes: [FieldPath, Tree][] = [];
    const empty: [string, Tree][] = [];
    for (const [path, shape] of FIELD_SHAPES) {
      const node = at(tree, path);
      if (node !== undefined) nodes.push([path, canonical(shape, node)]);
    }
    for (const path of POINTED_OBJECTS) {
      const isGivenEmpty = at(tree, path)?.kind === "map" && !nodes.some(([field]) => field.startsWith(`${path}.`));
      if (isGivenEmpty) empty.push([path, { ...NOTHING, origin: at(tree, path)?.origin ?? DEFAULT }]);
    }
    this.tree = withNodes(NOTHING, [...nodes, ...empty]);
  }

  get<P extends FieldPath>(path: P): FieldValue<P> | undefined {
    if (!this.values.has(path)) {
      const node = at(this.tree, path);
      const shape = FIELD_SHAPES.get(path);
      this.values.set(path, node === undefined || shape === undefined ? undefined : decode(shape, node));
    }
    return this.values.get(path) as FieldValue<P> | undefined;
  }

  /** In a file, a drop-in or a flag. */
  isSet(path: FieldPath): boolean {
    const node = at(this.tree, path);
    return node !== undefined && isGiven(node.origin);
  }

  /**
   * The origin of a field or of an element in it ("evictionHard[memory.available]", "registerWithTaints[0].effect"). If
   * the element is missing, the origin of its parent. For an object of fields, the origin of the first field that is
   * set.
   */
  origin(path: string): Origin {
    let node = this.tree as Tree;
    let inField = false;
    let walked = "";
    for (const [, name, index] of path.matchAll(/(?:^|\.)([^.[\]]+)|\[([^[\]]*)\]/g)) {
      const child = childOf(node, name ?? index ?? "");
      if (child === undefined) return inField ? node.origin : DEFAULT;
      walked += name === undefined ? `[${index ?? ""}]` : `.${name}`;
      inField ||= FIELD_SHAPES.has(walked.slice(1) as FieldPath);
      node = child;
    }
    return inField ? node.origin : (firstGiven(node) ?? DEFAULT);
  }

  /** As upstream writes it, as JSON data; secrets as they are. */
  toWireObject(): Record<string, unknown> {
    return objectOf(wireTree(this.tree));
  }

  /** Upstream's shape with all fields, as JSON data; secrets masked. */
  toMaskedObject(): Record<string, unknown> {
    return objectOf(masked(this.tree));
  }

  /** Every scalar and empty collection by path, in the order of the table of fields; secrets masked. */
  *leaves(): Generator<Leaf> {
    const shown = masked(this.tree);
    for (const [path] of FIELD_ROWS) {
      const node = at(shown, path);
      const shape = FIELD_SHAPES.get(path);
      if (node !== undefined && shape !== undefined) yield* leavesOf(shape, node, path);
    }
  }
}

function objectOf(tree: MapNode): Record<string, unknown> {
  return { kind: CONFIG_KIND, apiVersion: CONFIG_API_VERSION, ...(plain(tree) as Record<string, unknown>) };
}

function isGiven(origin: Origin): boolean {
  return origin.kind !== "default" && origin.kind !== "derived";
}

function childOf(node: Tree, key: string): Tree | undefined {
  if (node.kind === "map") return node.entries.get(key);
  return node.kind === "list" ? node.items[Number(key)] : undefined;
}

function firstGiven(node: Tree): Origin | undefined {
  if (node.kind === "scalar") return isGiven(node.origin) ? node.origin : undefined;
  for (const child of node.kind === "map" ? node.entries.values() : node.items) {
    const found = firstGiven(child);
    if (found !== undefined) return found;
  }
  return undefined;
}
