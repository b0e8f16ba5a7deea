// Collects the violations and warnings of one manifest while schema and rules walk it.
// Positions are added afterwards, once, because finding them is the costly part and most manifests are right.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { fieldName, type FieldPath } from "../../../shared/kubernetes/api/manifest/field-path.js";
import type { ManifestViolation, ViolationReason } from "../../../shared/kubernetes/api/manifest/violation.js";
import { nearestSafe, type WideInteger } from "../../../shared/kubernetes/api/wide-integers.js";
import { JsonDecimal } from "./json-decimal.js";

export interface Finding {
  path: FieldPath;
  /** True when the finding is about the key, not the value (an unknown field). */
  atKey?: boolean;
}
export interface ViolationFinding extends Pick<Finding, "path">, Omit<ManifestViolation, "line" | "column" | "field"> {}
export interface WarningFinding extends Finding {
  message: string;
}

const GOT_LIMIT = 80;

/** A value for a message: JSON, on one line, truncated. */
export function shown(value: unknown): string {
  const text =
    value instanceof JsonDecimal
      ? String(value)
      : typeof value === "object" && value !== null
        ? Array.isArray(value)
          ? "a list"
          : "a mapping"
        : json(value);
  return text.length <= GOT_LIMIT ? text : `${text.slice(0, GOT_LIMIT)}…`;
}

function json(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return JSON.stringify(typeof value === "string" ? value.slice(0, GOT_LIMIT + 1) : value);
}

export class Report {
  readonly violations: ViolationFinding[] = [];
  readonly warnings: WarningFinding[] = [];
  /** Integers that lose digits as numbers. */
  readonly wideIntegers: WideInteger[] = [];
  private readonly refused = new Set<string>();

  add(
    path: FieldPath,
    reason: ViolationReason,
    detail: { got?: string; allowed?: string; hint?: string | undefined },
  ): void {
    this.violations.push(omitUndefined<ViolationFinding>({ path, reason, ...detail }));
    this.refused.add(fieldName(path));
  }
  required(path: FieldPath, allowed: string): void {
    // A value refused for its type was dropped: saying that it is missing too would be noise.
    if (!this.isRefused(path)) this.add(path, "required value", { allowed });
  }
  unsupported(path: FieldPath, got: unknown, allowed: readonly string[], hint?: string): void {
    this.add(path, "unsupported value", {
      got: shown(got),
      allowed: allowed.join(", "),
      hint,
    });
  }
  invalid(path: FieldPath, got: unknown, allowed: string): void {
    this.add(path, "invalid value", { got: shown(got), allowed });
  }
  duplicate(path: FieldPath, got: unknown, allowed: string): void {
    this.add(path, "duplicate value", { got: shown(got), allowed });
  }
  forbidden(path: FieldPath, allowed: string): void {
    this.add(path, "forbidden", { allowed });
  }
  warn(path: FieldPath, message: string, atKey = false): void {
    this.warnings.push({ path, message, atKey });
  }

  /** The number for an integer that passed its checks; digits that it cannot hold are kept. */
  integer(path: FieldPath, value: number | bigint): number {
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    const number = nearestSafe(Number(value));
    const digits = String(BigInt(value));
    if (digits !== String(number)) this.wideIntegers.push({ path, digits });
    return number;
  }

  /** True if the value at `path`, or a value that contains it, was refused already. */
  isRefused(path: FieldPath): boolean {
    if (this.refused.size === 0) return false;
    for (let length = path.length; length > 0; length--) {
      if (this.refused.has(fieldName(path.slice(0, length)))) return true;
    }
    return false;
  }

  /** Takes over the findings of `other`, whose root is `base` here. */
  include(other: Report, base: FieldPath): void {
    for (const { path, ...finding } of other.violations) this.violations.push({ path: [...base, ...path], ...finding });
    for (const { path, ...finding } of other.warnings) this.warnings.push({ path: [...base, ...path], ...finding });
  }
}
