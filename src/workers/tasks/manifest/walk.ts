// Walks an untrusted value along a field type: keeps what fits, reports what does not, warns of unknown fields. The
// result has only known fields without nulls, so it can be hashed, defaulted and passed on as a Pod.

import { goTimeMs } from "../../../shared/base/text/go-time.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { didYouMean } from "../../../shared/base/text/nearest-name.js";
import type { FieldPath } from "../../../shared/kubernetes/api/manifest/field-path.js";
import { violationText } from "../../../shared/kubernetes/api/manifest/violation.js";
import { InvalidQuantityError } from "../../../shared/kubernetes/api/quantity.js";
import { apiTime } from "../../../shared/kubernetes/api/time.js";
import { canonicalQuantity } from "./canonical-quantity.js";
import { typeName, type FieldType, type ObjectType } from "./field-types.js";
import { JsonDecimal } from "./json-decimal.js";
import { Report, shown } from "./report.js";

/** Levels below a field of any value: far above any real pod, far below what hurts the recursion. */
export const MAX_DEPTH = 64;

/** The value as far as it fits `type`; undefined when absent, null or refused. */
export function walk(type: FieldType, value: unknown, path: FieldPath, report: Report): unknown {
  if (value === null || value === undefined) return undefined;
  if (value instanceof JsonDecimal) return walkDecimal(type, value, path, report);
  switch (type.kind) {
    case "string":
      return walkString(type, value, path, report);
    case "int":
      return walkInt(type, value, path, report);
    case "bool":
      return typeof value === "boolean" ? value : wrongType(type, value, path, report);
    case "quantity":
      return walkQuantity(type, value, path, report);
    case "intOrString":
      if (typeof value === "string" || Number.isInteger(value)) return value;
      return wrongType(type, value, path, report);
    case "time":
      return walkTime(type, value, path, report);
    case "any":
      return keepAny(value, path, report, 0);
    case "later":
      return walkLater(type, value, path, report);
    case "list":
      if (!Array.isArray(value)) return wrongType(type, value, path, report);
      return walkList(type.of, value, path, report);
    case "map":
      if (!isRecord(value)) return wrongType(type, value, path, report);
      return walkMap(type.of, value, path, report);
    case "object":
      if (!isRecord(value)) return wrongType(type, value, path, report);
      return walkObject(type, value, path, report);
  }
}

/** Go reads it as text where a field decodes itself, and refuses it for an integer. */
function walkDecimal(type: FieldType, value: JsonDecimal, path: FieldPath, report: Report): unknown {
  switch (type.kind) {
    case "quantity":
      return walkQuantity(type, String(value), path, report);
    case "any":
      return value.number;
    case "later":
      return walkLater(type, value, path, report);
    default:
      return wrongType(type, value, path, report);
  }
}

function wrongType(type: FieldType, value: unknown, path: FieldPath, report: Report): unknown {
  const scalar = ["number", "boolean", "bigint"].includes(typeof value) || value instanceof JsonDecimal;
  const hint = type.kind === "string" && scalar ? { hint: "write it in quotes to make it a string" } : {};
  report.add(path, "wrong type", { got: shown(value), allowed: typeName(type), ...hint });
  return undefined;
}

type Kind<K extends FieldType["kind"]> = Extract<FieldType, { kind: K }>;

function walkString(type: Kind<"string">, value: unknown, path: FieldPath, report: Report): unknown {
  if (typeof value !== "string") return wrongType(type, value, path, report);
  if (type.values !== undefined && !type.values.includes(value)) {
    const known = type.values.map((known) => (known === "" ? '""' : known));
    report.unsupported(path, value, known, didYouMean(value, type.values));
    return undefined;
  }
  for (const rule of type.rules ?? []) {
    const allowed = rule(value);
    if (allowed === undefined) continue;
    report.invalid(path, value, allowed);
    return undefined;
  }
  return value;
}

/** What Go writes as null. */
const ZERO_TIME = Date.parse("0001-01-01T00:00:00Z");

function walkTime(type: Kind<"time">, value: unknown, path: FieldPath, report: Report): unknown {
  if (typeof value !== "string") return wrongType(type, value, path, report);
  const ms = goTimeMs(value);
  if (ms === undefined) report.invalid(path, value, typeName(type));
  return ms === undefined || ms === ZERO_TIME ? undefined : apiTime(ms);
}

function walkInt(type: Kind<"int">, value: unknown, path: FieldPath, report: Report): unknown {
  const isInteger = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
  if (!isInteger) return wrongType(type, value, path, report);
  const isWithin =
    type.wide === true ? value >= MIN_INT64 && value < 2n ** 63n && value >= type.min : inRange(type, value);
  if (isWithin) return report.integer(path, value);
  const above = `an integer of 64 bits${type.min === -Infinity ? "" : `, ${type.min} or more`}`;
  report.invalid(path, value, type.wide === true ? above : `${type.min} to ${type.max}`);
  return undefined;
}

const MIN_INT64 = -(2n ** 63n);

function inRange({ min, max }: Kind<"int">, value: number | bigint): boolean {
  return value >= min && value <= max;
}

/** In canonical form, as upstream shows and sends quantities. */
function walkQuantity(type: Kind<"quantity">, value: unknown, path: FieldPath, report: Report): unknown {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") {
    return wrongType(type, value, path, report);
  }
  try {
    const { nanos, text } = canonicalQuantity(String(value).trim(), type.roundsToMilli === true);
    if (nanos >= 0n) return text;
    report.invalid(path, value, "zero or more");
  } catch (error) {
    if (!(error instanceof InvalidQuantityError)) throw error;
    report.invalid(path, value, typeName(type));
  }
  return undefined;
}

function walkList(of: FieldType, value: readonly unknown[], path: FieldPath, report: Report): unknown[] {
  const kept: unknown[] = [];
  value.forEach((item, index) => {
    const at = [...path, index];
    // Refused items leave a hole, so that the indices of later findings stay the manifest's own.
    kept.push(walk(of, item ?? zeroOf(of), at, report));
  });
  return kept;
}

/** What Go makes of null in a list or a map: nothing is absent there. */
function zeroOf(type: FieldType): unknown {
  switch (type.kind) {
    case "string":
      return "";
    case "time":
      return undefined;
    case "int":
    case "quantity":
    case "intOrString":
      return 0;
    case "bool":
      return false;
    case "list":
      return [];
    case "any":
    case "map":
    case "object":
      return {};
    case "later":
      return zeroOf(type.of);
  }
}

/** No value of such a field refuses a pod, because without the field's version no value does. */
function walkLater(type: Kind<"later">, value: unknown, path: FieldPath, report: Report): unknown {
  const found = new Report();
  const kept = walk(type.of, value, path, found);
  const [first] = found.violations;
  if (first === undefined) return kept;
  const { path: _, ...violation } = first;
  const problem = violationText({ ...violation, field: "", line: 0, column: 0 });
  report.warn(path, `ignored: a field of Kubernetes ${type.version}, which refuses the value: ${problem}`);
  return undefined;
}

function walkMap(
  of: FieldType,
  value: Record<string, unknown>,
  path: FieldPath,
  report: Report,
): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const result = walk(of, item ?? zeroOf(of), [...path, key], report);
    if (result !== undefined) set(kept, key, result);
  }
  return kept;
}

function walkObject(type: ObjectType, value: Record<string, unknown>, path: FieldPath, report: Report): object {
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const field = type.fields.get(key);
    if (field === undefined) {
      if (!type.dropped.includes(key)) warnUnknown(type, key, path, report);
      continue;
    }
    const isEmpty = item === "" && field.kind === "string" && field.keepsEmpty !== true;
    const result = isEmpty ? undefined : walk(field, item, [...path, key], report);
    if (result !== undefined && !isZero(field, result, type.required.includes(key))) set(kept, key, result);
  }
  for (const [name, zero] of Object.entries(type.zeros)) kept[name] ??= zero;
  for (const name of type.required) {
    if (kept[name] === undefined || kept[name] === "")
      report.required([...path, name], requiredText(type.fields.get(name)));
  }
  return kept;
}

/** What Go leaves out when it writes an object, since absent means the same. */
function isZero(type: FieldType, value: unknown, isRequired: boolean): boolean {
  switch (type.kind) {
    case "int":
      return value === 0 && type.isPlain === true;
    case "bool":
      return value === false && type.isPlain === true;
    case "list":
      return !isRequired && Array.isArray(value) && value.length === 0;
    case "map":
      return !isRequired && isRecord(value) && Object.keys(value).length === 0;
    default:
      return false;
  }
}

function requiredText(type: FieldType | undefined): string {
  return type === undefined ? "a value" : `it must be ${typeName(type)}`;
}

function warnUnknown(type: ObjectType, key: string, path: FieldPath, report: Report): void {
  const hint = didYouMean(key, [...type.fields.keys()]);
  report.warn([...path, key], `unknown field, ignored${hint === undefined ? "" : ` (${hint})`}`, true);
}

function keepAny(value: unknown, path: FieldPath, report: Report, depth: number): unknown {
  if (depth > MAX_DEPTH) {
    report.warn(path, `dropped: deeper than ${MAX_DEPTH} levels, which no field of the API is`);
    return undefined;
  }
  if (Array.isArray(value)) return value.map((item, index) => keepAny(item, [...path, index], report, depth + 1));
  if (value instanceof JsonDecimal) return value.number;
  if (!isRecord(value)) return typeof value === "bigint" ? report.integer(path, value) : value;
  const kept: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === null) continue;
    const result = keepAny(item, [...path, key], report, depth + 1);
    if (result !== undefined) set(kept, key, result);
  }
  return kept;
}

/** Plain assignment, but "__proto__" stays an ordinary key. */
function set(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
