// The command line by the names of the present table of settings; goes away with that table.
import { readCommandLine as readFlags, type CommandLine as Flags } from "./command-line.js";
import { OPTION_ROWS, type SettingName } from "./options.js";

/** A value somebody gave, and where: "--max-pods" or "/etc/kubelet.yaml:7:3: maxPods". */
export interface Given {
  value: unknown;
  origin: string;
}

export type CommandLine = Omit<Flags, "given"> & { given: Map<SettingName, Given> };

export function readCommandLine(argv: readonly string[]): CommandLine {
  const line = readFlags(argv);
  const given = new Map<SettingName, Given>();
  for (const [name, { flag, type }] of OPTION_ROWS) {
    const entry = flag === undefined ? undefined : line.given.get(flag);
    if (entry === undefined) continue;
    const value = type === "strings" && typeof entry.value === "string" ? entry.value.split(",") : entry.value;
    given.set(name, { value, origin: `--${entry.name}` });
  }
  return { ...line, given };
}
