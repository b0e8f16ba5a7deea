// Reads the values that the page's views return.

import type { VNode } from "../../src/page/dom/vnode.js";

export function textOf(node: VNode | string): string {
  return typeof node === "string" ? node : node.children.map(textOf).join(" ");
}

export function all(node: VNode | string, tag: string): VNode[] {
  if (typeof node === "string") return [];
  return [...(node.tag === tag ? [node] : []), ...node.children.flatMap((child) => all(child, tag))];
}

/** The texts of the cells of a table's rows. */
export function rowsOf(view: VNode): string[][] {
  const [body] = all(view, "tbody");
  return (body?.children ?? []).flatMap((row) =>
    typeof row === "string" ? [] : [row.children.map((cell) => textOf(cell).replace(/\s+/g, " ").trim())],
  );
}
