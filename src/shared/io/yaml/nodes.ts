// A YAML document as it is written: aliases and merge keys are not resolved yet, keys are not compared.

import type { ScalarValue } from "./tree.js";

export interface ScalarNode {
  kind: "scalar";
  offset: number;
  /** What the text means. */
  value: ScalarValue;
  /** A number with a point or an exponent. */
  isFloat: boolean;
  /** The text without quotes and folding. */
  text: string;
  /** As a key it is "<<": the value's members are merged. */
  isMerge: boolean;
}

export interface ListNode {
  kind: "list";
  offset: number;
  items: Node[];
}

export interface MapNode {
  kind: "map";
  offset: number;
  /** Key, value, key, value. */
  children: Node[];
}

export interface AliasNode {
  kind: "alias";
  offset: number;
  target: Node;
}

export type Node = ScalarNode | ListNode | MapNode | AliasNode;
