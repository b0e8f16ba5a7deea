// JSON Schema (draft 2020-12) of a KubeletConfiguration, made of the table of fields, so that editors complete and
// check the file. It contains types, defaults and simple lists of values; rules between fields are for --check-config.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { type FieldPath, FIELDS, type Field } from "../fields/fields.js";
import { flagsOf } from "../flags/table.js";
import { GATES, type Gate } from "../gates/table.js";
import { KNOWN } from "../rules/known-values.js";
import { CONFIG_API_VERSION, CONFIG_KIND } from "./config-version.js";
import { CONFIG_MEMBERS, isFieldPath, type Member, type ScalarType, type Shape } from "./shape.js";
type JsonSchema = Readonly<Record<string, unknown>>;

const DURATION = "^[-+]?(0|((\\d+(\\.\\d*)?|\\.\\d+)(ns|us|µs|μs|ms|s|m|h))+)$";
const QUANTITY = "^[+-]?(\\d+\\.?\\d*|\\.\\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\\d+)?$";

const SCALARS: Readonly<Record<ScalarType, JsonSchema>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", minimum: -2147483648, maximum: 2147483647 },
  int64: { type: "integer" },
  uint32: { type: "integer", minimum: 0, maximum: 4294967295 },
  float64: { type: "number" },
  duration: { type: "string", pattern: DURATION },
  durationOrNanos: { type: ["string", "integer"], pattern: DURATION },
  quantity: { type: ["string", "number"], pattern: QUANTITY },
};

const ENUMS = new Map<FieldPath, readonly string[]>([
  ...KNOWN,
  ["memorySwap.swapBehavior", ["NoSwap", "LimitedSwap"]],
  ["tlsMinVersion", ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"]],
  [
    "imagePullCredentialsVerificationPolicy",
    ["NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify"],
  ],
]);

function configSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "KubeletConfiguration",
    description: `Configuration of the kubelet, ${CONFIG_API_VERSION}: the file of --config and the drop-ins of --config-dir`,
    type: "object",
    required: ["apiVersion", "kind"],
    properties: {
      apiVersion: { const: CONFIG_API_VERSION },
      kind: { const: CONFIG_KIND },
      ...properties(CONFIG_MEMBERS, ""),
    },
    additionalProperties: false,
  };
}

function properties(members: ReadonlyMap<string, Member>, path: string): Record<string, JsonSchema> {
  const entries = [...members].map(([name, member]): [string, JsonSchema] => {
    const inner = path === "" ? name : `${path}.${name}`;
    return [name, isFieldPath(inner) ? fieldSchema(inner, member) : shapeSchema(member.shape, inner)];
  });
  return Object.fromEntries(entries);
}

function fieldSchema(path: FieldPath, { shape, field }: Member): JsonSchema {
  const values = ENUMS.get(path);
  return omitUndefined({
    description: descriptionOf(path),
    ...(path === "featureGates" ? GATES_SCHEMA : shapeSchema(shape, path)),
    // Empty text means the default, as does a missing field.
    enum: values === undefined ? undefined : [...values, ""],
    default: field?.default,
  });
}

function shapeSchema(shape: Shape, path: string): JsonSchema {
  switch (shape.kind) {
    case "scalar":
      return SCALARS[shape.type];
    case "list":
      return { type: "array", items: shapeSchema(shape.of, `${path}[]`) };
    case "map":
      return { type: "object", additionalProperties: shapeSchema(shape.of, `${path}[]`) };
    case "object":
      return { type: "object", properties: properties(shape.members, path), additionalProperties: false };
  }
}

const GATES_SCHEMA: JsonSchema = {
  type: "object",
  properties: Object.fromEntries(
    Object.entries(GATES).map(([name, gate]: [string, Gate]) => [
      name,
      gate.locked ? { const: gate.default } : { type: "boolean", default: gate.default },
    ]),
  ),
  additionalProperties: false,
};

/** As the checked-in file has it. */
export function configSchemaText(): string {
  return `${JSON.stringify(configSchema(), undefined, 2)}\n`;
}

// The description of each field in the JSON Schema, which editors show when they complete a configuration file.
/** The row's own text, else the help of the flag that mirrors the field. @throws Error for a field that has neither */
function descriptionOf(path: FieldPath): string {
  const { help, flag }: Field = FIELDS[path];
  const text = help ?? (flag === undefined ? undefined : flagsOf("linux").byName.get(flag)?.help);
  if (text === undefined) throw new Error(`${path} has no description: add "help" to its row in fields.ts`);
  return text;
}
