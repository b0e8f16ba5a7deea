// Between a field's node in the tree and the value the kubelet works with. Both ways follow the field's shape. A value
// was checked when it was read, so one that does not fit here is a programming error.

import { formatDuration } from "../duration.js";
import { ACCEPTED, fromConfig } from "../values.js";
import { type Origin } from "./origin.js";
import type { Member, ScalarType, Shape } from "./shape.js";
import { treeOf, type Scalar, type Tree } from "./tree.js";

/** Durations: milliseconds. Members that a listed object leaves out have Go's zero value. */
export function decode(shape: Shape, node: Tree): unknown {
  if (shape.kind === "scalar" && node.kind === "scalar") return decodeScalar(shape.type, node.value);
  if (shape.kind === "list" && node.kind === "list") return node.items.map((item) => decode(shape.of, item));
  if (node.kind === "map" && shape.kind === "map") {
    return Object.fromEntries([...node.entries].map(([key, item]) => [key, decode(shape.of, item)]));
  }
  if (node.kind === "map" && shape.kind === "object") {
    const members = [...shape.members].filter(([name, { optional }]) => node.entries.has(name) || optional !== true);
    return Object.fromEntries(members.map(([name, member]) => [name, decodeMember(member, node.entries.get(name))]));
  }
  throw new TypeError(`a ${node.kind} where a ${shape.kind} belongs`);
}

function decodeMember({ shape }: Member, node: Tree | undefined): unknown {
  return node === undefined ? zeroOf(shape) : decode(shape, node);
}

function decodeScalar(type: ScalarType, value: Scalar): unknown {
  const decoded = fromConfig(type, value);
  if (decoded === undefined) throw new TypeError(`${JSON.stringify(value)} is not ${ACCEPTED[type]}`);
  return decoded;
}

function zeroOf(shape: Shape): unknown {
  if (shape.kind === "list") return [];
  if (shape.kind !== "scalar") return {};
  if (shape.type === "string" || shape.type === "quantity") return "";
  return shape.type === "bool" ? false : 0;
}

/** A decoded value as a node, written as upstream prints it. */
export function encode(shape: Shape, value: unknown, origin: Origin): Tree {
  if (shape.kind === "scalar" && isDuration(shape.type)) return treeOf(formatDuration(value as number), origin);
  return treeOf(value, origin);
}

/** The node with durations and quantities written one way, independent of the file's way. */
export function canonical(shape: Shape, node: Tree): Tree {
  if (node.kind === "list" && shape.kind === "list") {
    return { ...node, items: node.items.map((item) => canonical(shape.of, item)) };
  }
  if (node.kind === "map" && shape.kind !== "list" && shape.kind !== "scalar") {
    const entries = [...node.entries].map(([key, item]): [string, Tree] => {
      const inner = shape.kind === "map" ? shape.of : shape.members.get(key)?.shape;
      return [key, inner === undefined ? item : canonical(inner, item)];
    });
    return { ...node, entries: new Map(entries) };
  }
  if (shape.kind === "scalar" && node.kind === "scalar" && isExact(shape.type, node.value)) return node;
  return shape.kind === "scalar" ? encode(shape, decode(shape, node), node.origin) : node;
}

/** Written as it was given: an integer beyond 2^53, and a duration in nanoseconds. */
function isExact(type: ScalarType, value: Scalar): boolean {
  if (type === "durationOrNanos") return typeof value === "number" || typeof value === "bigint";
  return type === "int64" && typeof value === "bigint";
}

function isDuration(type: ScalarType): boolean {
  return type === "duration" || type === "durationOrNanos";
}

/** Zero, empty text or a zero duration: the value of an upstream field without a pointer that is not given. */
export function isZero(shape: Shape, node: Tree): boolean {
  return shape.kind === "scalar" && decode(shape, node) === zeroOf(shape);
}

export interface Leaf {
  /** "maxPods", "evictionHard[memory.available]", "registerWithTaints[0].effect". */
  readonly path: string;
  readonly node: Tree;
}

/** The scalars and empty collections of a field, in order. */
export function* leavesOf(shape: Shape, node: Tree, path: string): Generator<Leaf> {
  if (node.kind === "list" && shape.kind === "list" && node.items.length > 0) {
    for (const [index, item] of node.items.entries()) yield* leavesOf(shape.of, item, `${path}[${index}]`);
  } else if (node.kind === "map" && node.entries.size > 0 && (shape.kind === "map" || shape.kind === "object")) {
    for (const [key, item] of node.entries) {
      if (shape.kind === "map") yield* leavesOf(shape.of, item, `${path}[${key}]`);
      else yield* leavesOf(shape.members.get(key)?.shape ?? shape, item, `${path}.${key}`);
    }
  } else {
    yield { path, node };
  }
}
