// Tables that become cards on a narrow screen. Roles are explicit: a browser drops those of a table that is not laid out as one. Pure.
import { h, type Child, type VNode } from "../dom/vnode.js";

interface Column<T> {
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
  sorting?: Sorting;
}

/** The first column names the row. */
export function table<T>({ caption, columns, rows, keyOf, empty, sorting }: TableOptions<T>): VNode {
  const sorted = sorting === undefined ? rows : sortedBy(rows, columns, sorting.by);
  const cell = (row: T, column: Column<T>, index: number): VNode =>
    h(
      index === 0 ? "th" : "td",
      {
        class: classOf(column),
        ...(index === 0 ? { scope: "row", role: "rowheader" } : { role: "cell", "data-label": column.title }),
      },
      column.cell(row),
    );
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
          : sorted.map((row) =>
              h(
                "tr",
                { key: keyOf(row), role: "row" },
                columns.map((column, index) => cell(row, column, index)),
              ),
            ),
      ),
    ),
  );
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
