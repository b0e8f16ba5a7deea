// Where in the text a field stands: line and column of a path's value, or of its nearest enclosing one.
import { isAlias, isMap, isPair, isScalar, isSeq, type Document, type LineCounter, type Node } from "yaml";
import type { Finding } from "./report.js";

export interface Position {
  line: number;
  column: number;
}

export function locate(doc: Document, lines: LineCounter, finding: Finding): Position {
  let node: unknown = doc.contents;
  let offset = offsetOf(node) ?? 0;
  for (const [depth, step] of finding.path.entries()) {
    if (isAlias(node)) node = node.resolve(doc);
    const next = childOf(node, step);
    if (next === undefined) break;
    const last = depth === finding.path.length - 1;
    offset =
      (last && finding.atKey === true ? offsetOf(next.key) : undefined) ??
      offsetOf(next.value) ??
      offsetOf(next.key) ??
      offset;
    node = next.value;
  }
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}

function childOf(node: unknown, step: string | number): { key?: unknown; value: unknown } | undefined {
  if (isSeq(node) && typeof step === "number")
    return step < node.items.length ? { value: node.items[step] } : undefined;
  if (!isMap(node)) return undefined;
  // From the end: the last of two equal keys counts.
  for (const pair of [...node.items].reverse()) {
    if (isPair(pair) && isScalar(pair.key) && String(pair.key.value) === String(step)) return pair;
  }
  return undefined;
}

function offsetOf(node: unknown): number | undefined {
  return typeof node === "object" && node !== null && "range" in node ? (node as Node).range?.[0] : undefined;
}
