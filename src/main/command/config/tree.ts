// A configuration as a tree whose every node has its origin. Sources are read into trees, trees are merged, defaults
// and flags are added as nodes; the effective configuration is decoded from the last tree. Trees are immutable: every
// operation returns a new one.

import { exactInteger } from "../../../shared/kubernetes/api/wide-integers.js";
import type { Origin } from "./origin.js";

/** An integer beyond 2^53 is a bigint. */
export type Scalar = string | number | bigint | boolean | null;

interface ScalarNode {
  readonly kind: "scalar";
  readonly value: Scalar;
  readonly origin: Origin;
}

interface ListNode {
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

/** The tree as JSON data; JSON.stringify writes every digit of integers. */
export function plain(tree: Tree): unknown {
  switch (tree.kind) {
    case "scalar":
      return typeof tree.value === "bigint" ? exactInteger(tree.value) : tree.value;
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
  return withNodes(tree, [[path, node]]);
}

/** `withNode` for many: nodes on their paths are copied once. */
export function withNodes(tree: MapNode, nodes: Iterable<readonly [path: string, node: Tree]>): MapNode {
  const entries = new Map(tree.entries);
  const copies = new Map<string, Map<string, Tree>>();
  const copyOf = (path: string, origin: Origin): Map<string, Tree> => {
    if (path === "") return entries;
    const made = copies.get(path);
    if (made !== undefined) return made;
    const [parent, key] = split(path);
    const siblings = copyOf(parent, origin);
    const before = siblings.get(key);
    const copy = new Map(before?.kind === "map" ? before.entries : []);
    siblings.set(key, { kind: "map", entries: copy, origin: before?.kind === "map" ? before.origin : origin });
    copies.set(path, copy);
    return copy;
  };
  for (const [path, node] of nodes) {
    const [parent, key] = split(path);
    copyOf(parent, node.origin).set(key, node);
  }
  return { ...tree, entries };
}

/** The tree without the nodes at dotted paths. Maps on the way stay, even if nothing is left in them. */
export function withoutNodes(tree: MapNode, paths: readonly string[]): MapNode {
  const heads = new Map<string, string[]>();
  for (const path of paths) {
    const [head = "", ...rest] = path.split(".");
    heads.set(head, [...(heads.get(head) ?? []), rest.join(".")]);
  }
  const entries = [...tree.entries].flatMap(([key, node]): [string, Tree][] => {
    const inner = heads.get(key);
    if (inner?.includes("") === true) return [];
    return [[key, inner === undefined || node.kind !== "map" ? node : withoutNodes(node, inner)]];
  });
  return { ...tree, entries: new Map(entries) };
}

function split(path: string): [parent: string, key: string] {
  const dot = path.lastIndexOf(".");
  return dot < 0 ? ["", path] : [path.slice(0, dot), path.slice(dot + 1)];
}
