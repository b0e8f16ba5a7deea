// Checks that many rules share: bounds, known values and the fields that take them. Their messages give the value and
// the allowed values.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { formatDuration } from "../duration.js";
import type { FieldPath, FieldValue } from "../fields/fields.js";
import type { Violation } from "../violation.js";
import type { ConfigView } from "./rule.js";

/** The fields that hold a T (durations hold numbers too). */
export type PathOf<T> = { [P in FieldPath]: FieldValue<P> extends T ? P : never }[FieldPath];

const INT32_MAX = 2_147_483_647;

/** A number that must be `low` or more, and `high` or less where there is a bound. */
export function* inRange(
  config: ConfigView,
  path: PathOf<number>,
  low: number,
  high = Infinity,
  unit = "number",
): Iterable<Violation> {
  const value = config.get(path);
  if (value === undefined || (value >= low && value <= high)) return;
  yield {
    path,
    message: high === Infinity ? `${value} is not ${low} or more` : `${value} is not a ${unit} from ${low} to ${high}`,
  };
}

export const notNegative = (config: ConfigView, path: PathOf<number>): Iterable<Violation> => inRange(config, path, 0);

/** Numbers that upstream keeps in an int32 although their type is wider. */
export function isInt32(value: number): boolean {
  return value <= INT32_MAX;
}

/** A duration that must not be negative. */
export function* durationNotNegative(config: ConfigView, path: PathOf<number>): Iterable<Violation> {
  const value = config.get(path);
  if (value !== undefined && value < 0)
    yield { path, message: `${formatDuration(value)} is not a duration of 0 or more` };
}

/** A text that must be one of `known`; the empty one is shown as "". */
export function* oneOf(config: ConfigView, path: PathOf<string>, known: readonly string[]): Iterable<Violation> {
  const value = config.get(path);
  if (value !== undefined && !known.includes(value)) yield { path, message: notOneOf(value, known) };
}

export function notOneOf(value: string, known: readonly string[]): string {
  const names = known.map((name) => (name === "" ? '""' : name));
  return `${quoteStart(value)} is not ${names.length > 1 ? `${names.slice(0, -1).join(", ")} or ` : ""}${names.at(-1) ?? ""}`;
}

/** A given value that only has a meaning while a gate is on. */
export function needsGate(path: string, gate: string): Violation {
  return { path, message: `requires the feature gate ${gate}, which is off; turn it on or remove this value` };
}
