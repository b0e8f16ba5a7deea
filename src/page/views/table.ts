// Tables that become cards on a narrow screen. Roles are explicit: a browser drops those of a table that is not laid
// out as one. Pure.

import { h, type Child, type VNode } from "../dom/vnode.js";

export interface Column<T> {
  title: string;
  /** Numbers are aligned to the right. */
  number?: boolean;
  cell: (row: T) => Child | readonly Child[];
  class?: string;
  /** What rows are sorted by; undefined values come last. Absent: the column does not sort. */
  sort?: (row: T) => string | number | undefined;
}

export interface Sorting {
  /** Title of a column, with "-" for the opposite order; "": the order of the rows. */
  by: string;
  onSort: (by: string) => void;
}

export interface TableOptions<T> {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Shown in place of rows. */
  empty: string;
  /** What a row's cells need beside the row itself, such as the moment. With it, the same row is made a value once. */
  version?: (row: T) => string;
  sorting?: Sorting;
}

/** The first column names the row. */
export function table<T extends object | string>(options: TableOptions<T>): VNode {
  const { caption, columns, rows, empty, sorting } = options;
  const sorted = sorting === undefined ? rows : sortedBy(rows, columns, sorting.by);
  // A table that is still too wide scrolls by itself, by keyboard too.
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h(
      "table",
      { role: "table", class: sorting === undefined ? undefined : "sortable" },
      h("caption", { class: "hidden" }, caption),
      h(
        "thead",
        { role: "rowgroup" },
        h(
          "tr",
          { role: "row" },
          columns.map((column) => heading(column, sorting)),
        ),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        sorted.length === 0
          ? [
              h(
                "tr",
                { key: "none", role: "row" },
                h("td", { class: "empty", role: "cell", colspan: columns.length }, empty),
              ),
            ]
          : sorted.map((row) => rowOf(row, options)),
      ),
    ),
  );
}

/** Values of rows, by the row. */
const made = new WeakMap<object, { version: string; value: VNode }>();

function rowOf<T extends object | string>(row: T, { columns, keyOf, version }: TableOptions<T>): VNode {
  const now = version?.(row);
  const known = typeof row === "object" ? made.get(row) : undefined;
  if (known !== undefined && known.version === now) return known.value;
  const cells = columns.map((column, index) =>
    h(
      index === 0 ? "th" : "td",
      {
        class: classOf(column),
        ...(index === 0 ? { scope: "row", role: "rowheader" } : { role: "cell", "data-label": column.title }),
      },
      column.cell(row),
    ),
  );
  const value = h("tr", { key: keyOf(row), role: "row" }, cells);
  if (now !== undefined && typeof row === "object") made.set(row, { version: now, value });
  return value;
}

function heading<T>(column: Column<T>, sorting: Sorting | undefined): VNode {
  const { title, number, sort } = column;
  const props = { scope: "col", role: "columnheader", class: headingClass(column) };
  if (sort === undefined || sorting === undefined) return h("th", props, title);
  const { by, onSort } = sorting;
  const [down, up] = [by === `-${title}`, by === title];
  // Numbers begin with the largest.
  const next = number === true ? (down ? title : up ? "" : `-${title}`) : up ? `-${title}` : down ? "" : title;
  return h(
    "th",
    { ...props, "aria-sort": up ? "ascending" : down ? "descending" : "none" },
    h(
      "button",
      { type: "button", class: "sort", on: { click: () => onSort(next) } },
      title,
      h("span", { "aria-hidden": "true", class: "arrow" }, up ? "▲" : down ? "▼" : ""),
    ),
  );
}

function sortedBy<T>(rows: readonly T[], columns: readonly Column<T>[], by: string): readonly T[] {
  const title = by.replace(/^-/, "");
  const value = columns.find((column) => column.title === title)?.sort;
  if (value === undefined) return rows;
  const sign = by.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, other] = [value(a), value(b)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    return one < other ? -sign : one > other ? sign : 0;
  });
}

/** Fonts and widths are those of the cells. */
function headingClass<T>({ number = false, class: own = "" }: Column<T>): string | undefined {
  return number ? "number" : own.includes("wide") ? "wide" : undefined;
}

function classOf<T>({ number = false, class: own = "" }: Column<T>): string | undefined {
  return [number ? "number" : "", own].filter((name) => name !== "").join(" ") || undefined;
}
