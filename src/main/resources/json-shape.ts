// The shapes of JSON in the managers' checkpoints. Each function returns the value with its type, or names the wrong
// part.

import { isRecord } from "../../shared/base/text/is-record.js";

/** @throws Error */
export function recordOf(value: unknown, where: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw new Error(`${where} is not an object`);
}

/** @throws Error */
export function listOf(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`${where} is not a list`);
}

/** @throws Error */
export function textOf(value: unknown, where: string): string {
  if (typeof value === "string") return value;
  throw new Error(`${where} is not a text`);
}

/** @throws Error */
export function numberOf(value: unknown, where: string): number {
  if (typeof value === "number") return value;
  throw new Error(`${where} is not a number`);
}
