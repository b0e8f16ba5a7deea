// The form of a definition from which releases up to 0.1.0 computed the UID of a static pod: known fields with their
// values as written. Later ones hash the canonical form, in which `cpu: 0.5` is "500m" and `hostPID: false` is left
// out. Pure.

import { isRecord } from "../../../shared/base/text/is-record.js";
import type { FieldType } from "./field-types.js";
import { JsonDecimal } from "./json-decimal.js";

/** `value` has passed the checks of `type`. undefined: absent, or of a kind that those releases refused. */
export function writtenForm(type: FieldType, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (value instanceof JsonDecimal) return value.number;
  switch (type.kind) {
    case "any":
      return withoutNulls(value);
    case "list":
      return Array.isArray(value) ? value.map((item) => writtenForm(type.of, item)) : undefined;
    case "map":
      return isRecord(value) ? mapped(value, (item) => mapValue(type.of, item)) : undefined;
    case "object": {
      if (!isRecord(value)) return undefined;
      if (type.keptWhole === true) return withoutNulls(value);
      return mapped(value, (item, name) => {
        const field = type.fields.get(name);
        return field === undefined ? undefined : writtenForm(field, item);
      });
    }
    default:
      return plain(value);
  }
}

function mapValue(type: FieldType, item: unknown): unknown {
  return item === null && type.kind === "string" ? "" : writtenForm(type, item);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value instanceof JsonDecimal) return value.number;
  if (!isRecord(value)) return plain(value);
  return mapped(value, (item) => (item === null ? undefined : withoutNulls(item)));
}

function mapped(
  value: Readonly<Record<string, unknown>>,
  change: (item: unknown, name: string) => unknown,
): Record<string, unknown> {
  const changed = Object.entries(value).map(([name, item]) => [name, change(item, name)] as const);
  return Object.fromEntries(changed.filter(([, item]) => item !== undefined));
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
