// The effective configuration with the origin of each value. Pure.

import { configLines, type Configz } from "../../cli/config-lines.js";
import { h, type VNode } from "../dom/vnode.js";
import { badge, filterField, note, section } from "./parts.js";
import { table } from "./table.js";

export interface ConfigView {
  configz: Configz | undefined;
  problem: string | undefined;
  filter: string;
  onFilter: (text: string) => void;
  /** Only values that are not the default. */
  changedOnly: boolean;
  onChangedOnly: () => void;
}

export function configView({ configz, problem, filter, onFilter, changedOnly, onChangedOnly }: ConfigView): VNode {
  if (problem !== undefined) return section("Configuration", h("p", { role: "alert" }, badge("bad", problem)));
  if (configz === undefined) return section("Configuration", note("Reading…"));
  const word = filter.trim().toLowerCase();
  const all = configLines(configz.kubeletconfig, configz.origins);
  const rows = all.filter(
    ({ field, origin }) => field.toLowerCase().includes(word) && (!changedOnly || origin !== "default"),
  );
  return section(
    "Configuration",
    h(
      "p",
      { class: "tools" },
      filterField("Filter", "field", filter, onFilter),
      h(
        "label",
        {},
        h("input", { type: "checkbox", checked: changedOnly, on: { change: onChangedOnly } }),
        " only values that are not the default",
      ),
      h("span", { class: "muted" }, `${rows.length} of ${all.length}`),
    ),
    table({
      caption: "Configuration",
      columns: [
        { title: "Field", class: "code", cell: ({ field }) => field },
        { title: "Value", class: "code value", cell: ({ value }) => JSON.stringify(value) },
        {
          title: "Origin",
          class: "code",
          cell: ({ origin }) => (origin === "default" ? h("span", { class: "muted" }, origin) : origin),
        },
      ],
      rows,
      keyOf: ({ field }) => field,
      empty: changedOnly && word === "" ? "Every value is the default." : "No field matches.",
    }),
  );
}
