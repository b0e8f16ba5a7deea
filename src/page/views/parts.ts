// Parts that several views use: tables, badges, empty states. Pure.
import { duration, moment } from "../../cli/output/amounts.js";
import { h, type Child, type VNode } from "../dom/vnode.js";

export type Tone = "good" | "bad" | "warn" | "plain";

/** A state as a coloured dot and a word: never by colour alone. */
export function badge(tone: Tone, text: string): VNode {
  return h("span", { class: `badge ${tone}` }, text);
}

interface Column<T> {
  title: string;
  /** Numbers are aligned to the right. */
  number?: boolean;
  cell: (row: T) => Child | readonly Child[];
  class?: string;
}

export interface TableOptions<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Shown in place of rows. */
  empty: string;
}

/** The first column names the row. */
export function table<T>({ caption, columns, rows, keyOf, empty }: TableOptions<T>): VNode {
  const classOf = ({ number = false, class: own = "" }: Column<T>): string | undefined =>
    [number ? "number" : "", own].filter((name) => name !== "").join(" ") || undefined;
  // A wide table scrolls by itself, by keyboard too.
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h(
      "table",
      {},
      h("caption", { class: "hidden" }, caption),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          columns.map(({ title, number }) =>
            h("th", { scope: "col", class: number === true ? "number" : undefined }, title),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        rows.length === 0
          ? [h("tr", { key: "none" }, h("td", { class: "empty", colspan: columns.length }, empty))]
          : rows.map((row) =>
              h(
                "tr",
                { key: keyOf(row) },
                columns.map((column, index) =>
                  h(
                    index === 0 ? "th" : "td",
                    { class: classOf(column), ...(index === 0 && { scope: "row" }) },
                    column.cell(row),
                  ),
                ),
              ),
            ),
      ),
    ),
  );
}

/** A moment in the past as an age, with the moment itself as its title. */
export function age(at: number | undefined, now: number): VNode | string {
  return at === undefined ? "–" : h("span", { title: moment(at) }, duration(now - at));
}

/** Pairs of name and value. */
export function facts(pairs: readonly (readonly [name: string, value: Child | readonly Child[]])[]): VNode {
  return h(
    "dl",
    { class: "facts" },
    pairs.map(([name, value]) => h("div", { key: name }, h("dt", {}, name), h("dd", {}, value))),
  );
}

export function section(title: string, ...children: readonly (Child | readonly Child[])[]): VNode {
  return h("section", { key: title, "aria-label": title }, h("h2", {}, title), ...children);
}
