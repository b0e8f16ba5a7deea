// A configuration as a tree whose every node knows where it was written. Sources are read into trees, trees are merged,
// defaults and flags are nodes put into them; what the agent runs with is decoded from the last one. Trees never change:
// every operation gives a new one.
import type { Origin } from "./origin.js";

export type Scalar = string | number | boolean | null;

export interface ScalarNode {
  readonly kind: "scalar";
  readonly value: Scalar;
  readonly origin: Origin;
}

export interface ListNode {
  readonly kind: "list";
  readonly items: readonly Tree[];
  readonly origin: Origin;
}

export interface MapNode {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, Tree>;
  readonly origin: Origin;
}

export type Tree = ScalarNode | ListNode | MapNode;

/** A tree in which nothing is set. */
export const NOTHING: MapNode = { kind: "map", entries: new Map(), origin: { kind: "default" } };

/** JSON data as a tree, all of one origin. */
export function treeOf(value: unknown, origin: Origin): Tree {
  if (Array.isArray(value)) return { kind: "list", items: value.map((item) => treeOf(item, origin)), origin };
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return { kind: "map", entries: new Map(entries.map(([key, item]) => [key, treeOf(item, origin)])), origin };
  }
  return { kind: "scalar", value: value as Scalar, origin };
}

/** The tree as JSON data. */
export function plain(tree: Tree): unknown {
  switch (tree.kind) {
    case "scalar":
      return tree.value;
    case "list":
      return tree.items.map(plain);
    case "map":
      return Object.fromEntries([...tree.entries].map(([key, item]) => [key, plain(item)]));
  }
}

/** The node at a dotted path of map keys ("logging.format"); undefined when there is none. */
export function at(tree: Tree, path: string): Tree | undefined {
  let node: Tree | undefined = tree;
  for (const key of path.split(".")) node = node?.kind === "map" ? node.entries.get(key) : undefined;
  return node;
}

/** The tree with `node` at a dotted path; maps on the way are made as needed. */
export function withNode(tree: MapNode, path: string, node: Tree): MapNode {
  const dot = path.indexOf(".");
  const key = dot < 0 ? path : path.slice(0, dot);
  const entries = new Map(tree.entries);
  if (dot < 0) {
    entries.set(key, node);
  } else {
    const child = tree.entries.get(key);
    const map: MapNode = child?.kind === "map" ? child : { kind: "map", entries: new Map(), origin: node.origin };
    entries.set(key, withNode(map, path.slice(dot + 1), node));
  }
  return { ...tree, entries };
}
