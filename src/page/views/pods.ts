// The list of pods with their live state and usage. Pure.

import { duration } from "../../cli/output/amounts.js";
import { h, type VNode } from "../dom/vnode.js";
import { addresses, age, badge, filterField, section } from "./parts.js";
import { brokenFirst, matches, weightOf, type PodRow } from "./pod-rows.js";
import { table, type Column, type Sorting } from "./table.js";
import { cpuCell, memoryCell } from "./usage.js";

export interface PodsView {
  rows: readonly PodRow[];
  /** Only rows whose namespace, name, state or address contains it. */
  filter: string;
  onFilter: (text: string) => void;
  sorting: Sorting;
  now: number;
}

export function podsView({ rows, filter, onFilter, sorting, now }: PodsView): VNode {
  const word = filter.trim().toLowerCase();
  const shown = rows.filter((row) => matches(row, word)).toSorted(brokenFirst);
  return section(
    "Pods",
    h(
      "p",
      { class: "tools" },
      filterField("Filter", "name, namespace or state", filter, onFilter),
      h(
        "span",
        { class: "muted" },
        `${shown.length} of ${rows.length}${sorting.by === "" ? ", broken pods first" : ""}`,
      ),
    ),
    table<PodRow>({
      caption: "Pods of this node",
      columns: columnsAt(now),
      rows: shown,
      keyOf: ({ key }) => key,
      version: ({ startedAt }) => (startedAt === undefined ? "" : duration(now - startedAt)),
      empty: rows.length === 0 ? "This node has no pods." : "No pod matches the filter.",
      sorting,
    }),
  );
}

function columnsAt(now: number): Column<PodRow>[] {
  return [
    {
      title: "Name",
      class: "name",
      cell: ({ link, name, namespace }) => [
        link === undefined ? name : h("a", { href: link }, name),
        h("span", { class: "medium muted" }, namespace),
      ],
      sort: ({ name }) => name,
    },
    {
      title: "Namespace",
      class: "wide namespace",
      cell: ({ namespace }) => namespace,
      sort: ({ namespace }) => namespace,
    },
    {
      title: "State",
      class: "state",
      cell: ({ state }) => badge(state.tone, state.word),
      sort: (row) => `${weightOf(row)} ${row.state.word}`,
    },
    {
      title: "Ready",
      number: true,
      cell: ({ ready, containers }) => `${ready}/${containers}`,
      sort: ({ ready, containers }) => containers - ready,
    },
    { title: "Restarts", number: true, cell: ({ restarts }) => restarts, sort: ({ restarts }) => restarts },
    {
      title: "CPU",
      number: true,
      cell: ({ usage, limits }) => cpuCell(usage?.cpu, limits.cpu),
      sort: ({ usage }) => usage?.cpu,
    },
    {
      title: "Memory",
      number: true,
      cell: ({ usage, limits }) => memoryCell(usage?.memory, limits.memory),
      sort: ({ usage }) => usage?.memory,
    },
    {
      title: "Age",
      number: true,
      cell: ({ startedAt }) => age(startedAt, now),
      sort: ({ startedAt }) => (startedAt === undefined ? undefined : -startedAt),
    },
    { title: "Address", class: "wide code", cell: (row) => addresses(row.addresses) },
  ];
}
