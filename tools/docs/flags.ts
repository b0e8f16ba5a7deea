// docs/reference/flags.md: the tables of flags, those of older kubelets included.

import { GROUPS } from "../../src/main/command/flags/flag.js";
import { REMOVED_FLAGS } from "../../src/main/command/flags/removed.js";
import { FLAGS_BY_GROUP } from "../../src/main/command/flags/table.js";
import { valueName } from "../../src/main/command/help.js";
import { code, heading, table } from "./table.js";

export function flagsPage(): string {
  const groups = GROUPS.flatMap((group) => {
    const flags = Object.entries(FLAGS_BY_GROUP[group]).sort(([a], [b]) => (a < b ? -1 : 1));
    const rows = flags.map(([name, flag]) => {
      const long = name === flag.short ? `-${name}` : `--${name}`;
      const short = flag.short === undefined || name === flag.short ? "" : `, \`-${flag.short}\``;
      const value = valueName(flag);
      const where = flag.platform === undefined ? "" : ` (${flag.platform} only)`;
      const instead =
        flag.deprecated === undefined || flag.field !== undefined ? "" : `. Deprecated: ${flag.deprecated}`;
      return [
        `${code(value === undefined ? long : `${long}=${value}`)}${short}`,
        code(flag.default),
        code(flag.field ?? ""),
        `${flag.help}${where}${instead}`,
      ];
    });
    return [`## ${group}`, "", ...table(["flag", "default", "field", "meaning"], rows)];
  });
  const removed = Object.entries(REMOVED_FLAGS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { last, about, advice }]) => [
      code(`--${name}`),
      `${about === true ? "about " : ""}1.${last}`,
      advice,
    ]);
  return [
    ...heading("Flags", [
      "Every flag of the kubelet. With a field, the flag writes that field of the [configuration](fields.md); the file is the better place for it.",
      "Defaults are those of a start with flags alone; [Configuration](../configuration.md) says how values are combined.",
    ]),
    ...groups,
    "## Flags of older kubelets",
    "",
    "The kubelet refuses them and names the remedy.",
    "",
    ...table(["flag", "last version", "remedy"], removed),
  ].join("\n");
}
