// The text of --help, made of the tables of flags; commander lays it out: by subject, wrapped to the terminal.

import { Command, Option as HelpOption } from "commander";
import type { Flag } from "./flags/flag.js";
import { GROUPS } from "./flags/flag.js";
import { typeOf, type FlagKind } from "./flags/kinds.js";
import { FLAGS_BY_GROUP, flagsOf } from "./flags/table.js";
import type { ValueType } from "./value-types.js";

const OF_KIND: Partial<Record<FlagKind, string>> = {
  ip: "ip",
  port: "port",
  nodeIPs: "ip[,ip]",
  level: "level",
  thresholds: "signal<value,…",
  onePair: "key=value",
  configMaps: "namespace/name,…",
};
const OF_TYPE: Partial<Record<ValueType, string>> = {
  string: "text",
  int32: "number",
  int64: "number",
  uint32: "number",
  strings: "list",
  stringMap: "key=value,…",
  boolMap: "name=bool,…",
  headerMap: "name:value,…",
  taints: "taint,…",
  reservedMemory: "node:memory=size,…",
  vmodule: "pattern=N,…",
};

/** Zero values are not shown. */
const NO_DEFAULT = ["", "false", "0", "0s"];
const INDENT = 6;
const FALLBACK_COLUMNS = 100;

/** `columns`: width to wrap to; what cannot be broken (a path) may stick out. */
export function helpText(
  columns: number = process.stdout.columns || FALLBACK_COLUMNS,
  platform: NodeJS.Platform = process.platform,
): string {
  const command = new Command("kubelet")
    .usage("[flags]")
    .description(
      "The kubelet is the node agent that runs on each node. Without --kubeconfig it runs stand-alone, with static pods only.",
    )
    .helpOption(false)
    .configureHelp({
      helpWidth: columns,
      minWidthToWrap: 20,
      padWidth: () => 0,
      // The flag is on a separate line: names are too long for two columns.
      formatItem: (term, _width, text, helper) => {
        const lines = helper.boxWrap(text, Math.max(columns - INDENT, 20)).split("\n");
        return [`  ${term}`, ...lines.map((line) => `${" ".repeat(INDENT)}${line}`)].join("\n");
      },
    });
  const known = flagsOf(platform).byName;
  for (const group of GROUPS) {
    // Sorted here: commander would load the tables of a locale for it, which takes longer than all the rest.
    for (const name of Object.keys(FLAGS_BY_GROUP[group]).sort()) {
      const flag = known.get(name);
      if (flag !== undefined)
        command.addOption(new HelpOption(term(name, flag), describe(flag)).helpGroup(`${group}:`));
    }
  }
  return command.helpInformation();
}

function term(name: string, flag: Flag): string {
  const names = flag.short === name ? `-${name}` : flag.short === undefined ? `--${name}` : `-${flag.short}, --${name}`;
  const value = valueName(flag);
  return value === undefined ? names : `${names} ${value}`;
}

/** Placeholder of the flag's value: "<text>"; "[raw]" where it may be left out; undefined for a switch. */
export function valueName({ kind }: Flag): string | undefined {
  if (kind === "bool") return undefined;
  if (kind === "format") return "[yaml|json]";
  return kind === "version" ? "[raw]" : `<${OF_KIND[kind] ?? OF_TYPE[typeOf(kind)] ?? kind}>`;
}

/** Help text, default and replacement. */
export function describe(flag: Flag): string {
  const value = NO_DEFAULT.includes(flag.default) ? "" : ` (default ${flag.default})`;
  const instead = flag.deprecated === undefined ? "" : `. DEPRECATED: ${flag.deprecated}`;
  return `${flag.help}${value}${instead}`;
}
