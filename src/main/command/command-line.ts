// Stand-in until the table of flags is here.
import { FIELD_ROWS } from "./config/shape.js";
import type { ValueType } from "./value-types.js";
import { ACCEPTED, accumulate, fromText } from "./values.js";

export interface GivenFlag {
  readonly name: string;
  readonly value: unknown;
}
export interface CommandLine {
  help: boolean;
  version: string | undefined;
  given: Map<string, GivenFlag>;
  problems: string[];
  deprecations: string[];
}
const TYPES = new Map<string, ValueType>(FIELD_ROWS.flatMap(([, f]) => (f.flag === undefined ? [] : [[f.flag, f.type]])));
for (const name of ["config", "config-dir", "root-dir", "kubeconfig", "node-ip", "lock-file", "hostname-override", "cloud-provider", "dynamic-config-dir", "print-config"]) TYPES.set(name, "string");
for (const name of ["seccomp-default", "exit-on-lock-contention", "check-config"]) TYPES.set(name, "bool");
TYPES.set("node-labels", "stringMap");

export function readCommandLine(argv: readonly string[]): CommandLine {
  const line: CommandLine = { help: false, version: undefined, given: new Map(), problems: [], deprecations: [] };
  for (const arg of argv) {
    const [flag = "", ...rest] = arg.slice(2).split("=");
    const type = TYPES.get(flag);
    if (flag === "version") line.version = "true";
    else if (flag === "help") line.help = true;
    else if (type === undefined) line.problems.push(`unknown flag --${flag}`);
    else {
      const text = rest.length === 0 ? (flag === "print-config" ? "yaml" : "true") : rest.join("=");
      const value = fromText(type, text);
      const before = line.given.get(flag);
      if (value === undefined) line.problems.push(`--${flag}: ${JSON.stringify(text)} is not ${ACCEPTED[type]}`);
      else line.given.set(flag, { name: flag, value: before === undefined ? value : accumulate(type, before.value, value) });
    }
  }
  return line;
}
export function flagValues(line: CommandLine): { name: string; value: string }[] {
  return [...line.given.values()].map(({ name, value }) => ({ name, value: JSON.stringify(value) }));
}
