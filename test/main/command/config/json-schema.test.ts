import { deepEqual, equal, ok } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { configSchemaText } from "../../../../src/main/command/config/json-schema.js";
import { FIELD_ROWS } from "../../../../src/main/command/config/shape.js";
import { resolveSources } from "../../../support/config-kit.js";

const PROJECT = resolve(import.meta.dirname, "../../../../..");

test("the checked-in schema is made of today's table", () => {
  const file = readFileSync(join(PROJECT, "tools/config-schema/kubelet-config.schema.json"), "utf8");
  equal(file, configSchemaText(), "npm run build && node dist/tools/make-config-schema.js");
});

type JsonSchema = Readonly<Record<string, unknown>>;

const SCHEMA = JSON.parse(configSchemaText()) as JsonSchema;

/** Violations of the schema's keywords in a value, by path. Implements only the keywords of our schema. */
function faults(schema: JsonSchema, value: unknown, path = "$"): string[] {
  const found: string[] = [];
  for (const [keyword, wanted] of Object.entries(schema)) {
    const bad = fault(keyword, wanted, schema, value, path);
    if (typeof bad !== "boolean") found.push(...bad);
    else if (bad) found.push(`${path}: ${keyword}`);
  }
  return found;
}

function fault(
  keyword: string,
  wanted: unknown,
  schema: JsonSchema,
  value: unknown,
  path: string,
): boolean | readonly string[] {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  switch (keyword) {
    case "$schema":
    case "title":
    case "description":
    case "default":
      return false;
    case "type":
      return ![wanted].flat().some((type) => isOfType(value, type as string));
    case "const":
      return value !== wanted;
    case "enum":
      return !(wanted as unknown[]).includes(value);
    case "minimum":
      return typeof value === "number" && value < (wanted as number);
    case "maximum":
      return typeof value === "number" && value > (wanted as number);
    case "pattern":
      return typeof value === "string" && !new RegExp(wanted as string, "u").test(value);
    case "required":
      return isObject && (wanted as string[]).some((name) => !(name in value));
    case "items":
      return Array.isArray(value)
        ? value.flatMap((item, index) => faults(wanted as JsonSchema, item, `${path}[${index}]`))
        : false;
    case "properties": {
      if (!isObject) return false;
      const known = wanted as Record<string, JsonSchema>;
      return Object.entries(value).flatMap(([name, item]) =>
        known[name] === undefined ? [] : faults(known[name], item, `${path}.${name}`),
      );
    }
    case "additionalProperties": {
      if (!isObject) return false;
      const known = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
      const others = Object.entries(value).filter(([name]) => !Object.hasOwn(known, name));
      if (wanted === false) return others.map(([name]) => `${path}.${name}: unknown`);
      return others.flatMap(([name, item]) => faults(wanted as JsonSchema, item, `${path}.${name}`));
    }
    default:
      throw new Error(`the schema uses ${keyword}: teach it to this test`);
  }
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

const RICH = `registerWithTaints: [{key: a, effect: NoSchedule}]
reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]
featureGates: {AllBeta: true}
staticPodURLHeader: {a: [b]}
logging: {vmodule: [{filePattern: a, verbosity: 1}]}
tracing: {endpoint: localhost:4317}
shutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 10}]
`;

test("the effective configuration is valid by its schema", async () => {
  for (const file of ["", RICH]) {
    const { config } = await resolveSources({ file });
    deepEqual(faults(SCHEMA, config.toMaskedObject()), []);
  }
});

test("an object of another kind is invalid", () => {
  const head = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
  const table: [object, string[]][] = [
    [{}, ["$: required"]],
    [{ ...head, kind: "Pod" }, ["$.kind: const"]],
    [{ ...head, maxPod: 1 }, ["$.maxPod: unknown"]],
    [{ ...head, maxPods: "1" }, ["$.maxPods: type"]],
    [{ ...head, maxPods: 2147483648 }, ["$.maxPods: maximum"]],
    [{ ...head, syncFrequency: "1 minute" }, ["$.syncFrequency: pattern"]],
    [{ ...head, cgroupDriver: "x" }, ["$.cgroupDriver: enum"]],
    [{ ...head, featureGates: { Nonsense: true } }, ["$.featureGates.Nonsense: unknown"]],
    [{ ...head, registerWithTaints: [{ efect: "" }] }, ["$.registerWithTaints[0].efect: unknown"]],
    [{ ...head, authentication: { webhook: { cacheTTL: 5 } } }, ["$.authentication.webhook.cacheTTL: type"]],
  ];
  for (const [value, expected] of table) deepEqual(faults(SCHEMA, value), expected);
});

test("every field is described, and its default is valid", () => {
  for (const [path, field] of FIELD_ROWS) {
    let schema = SCHEMA;
    for (const name of path.split(".")) schema = (schema["properties"] as Record<string, JsonSchema>)[name] ?? {};
    ok(
      typeof schema["description"] === "string" && !schema["description"].includes("--") === (path !== "runOnce"),
      path,
    );
    deepEqual(schema["default"], field.default, path);
    if (field.default !== undefined) deepEqual(faults(schema, field.default), [], path);
  }
});
