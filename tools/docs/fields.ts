// docs/reference/fields.md: the table of configuration fields.

import { FIELD_ROWS } from "../../src/main/command/config/shape.js";
import { flagsOf } from "../../src/main/command/flags/table.js";
import type { ValueType } from "../../src/main/command/value-types.js";
import { code, heading, table } from "./table.js";

const TYPES: Readonly<Record<ValueType, string>> = {
  string: "string",
  bool: "boolean",
  int32: "int32",
  int64: "int64",
  uint32: "uint32",
  float64: "number",
  duration: "duration",
  durationOrNanos: "duration, or nanoseconds",
  quantity: "quantity",
  strings: "list of strings",
  ints: "list of integers",
  stringMap: "map of strings",
  boolMap: "map of booleans",
  quantityMap: "map of quantities",
  headerMap: "map of lists",
  taints: "list of taints",
  reservedMemory: "list of reservations per NUMA node",
  shutdownPriorities: "list of priorities and periods",
  vmodule: "list of patterns and verbosities",
};

export function fieldsPage(): string {
  const known = flagsOf("linux").byName;
  const rows = FIELD_ROWS.map(([path, field]) => {
    const flagHelp = field.flag === undefined ? undefined : known.get(field.flag)?.help;
    const without = field.actedOn === false ? ". Without effect in this kubelet" : "";
    const alone =
      field.flagOnlyDefault === undefined ? "" : `; without \`--config\`: ${code(shown(field.flagOnlyDefault))}`;
    return [
      code(path),
      TYPES[field.type],
      `${field.default === undefined ? "" : code(shown(field.default))}${alone}`,
      code(field.flag === undefined ? "" : `--${field.flag}`),
      `${field.help ?? flagHelp ?? ""}${without}`,
    ];
  });
  return [
    ...heading("Configuration fields", [
      "Every field of a KubeletConfiguration (`kubelet.config.k8s.io/v1beta1`), the file of `--config` and the drop-ins of `--config-dir`.",
      "The fields are upstream's. [Configuration](../configuration.md) says how values are combined and checked.",
    ]),
    ...table(["field", "type", "default", "flag", "meaning"], rows),
  ].join("\n");
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
