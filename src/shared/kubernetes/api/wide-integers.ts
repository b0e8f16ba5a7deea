// Integers of 64 bits in a pod that JavaScript's numbers cannot hold. The pod has the nearest number that JSON writes
// exactly, with which the kubelet computes; beside it stand the digits of the manifest, for the text that clients see.
// Nearly no pod has one: where there is none, nothing is done.

import type { FieldPath } from "./manifest/field-path.js";

export interface WideInteger {
  /** From the pod's root. */
  readonly path: FieldPath;
  /** With its sign. */
  readonly digits: string;
}

/** The nearest number that JSON writes exactly. As seconds it is as good as for ever. */
export function nearestSafe(value: number): number {
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** JSON of an object with the digits of the manifest. A value that was replaced since, by a default, stays. */
export function textWithDigits(value: object, wide: readonly WideInteger[] | undefined): string {
  if (wide === undefined) return JSON.stringify(value);
  const copy = structuredClone(value);
  for (const { path, digits } of wide) {
    const last = path.at(-1);
    const holder = path.slice(0, -1).reduce<unknown>(memberOf, copy);
    if (last === undefined || typeof holder !== "object" || holder === null) continue;
    const number = memberOf(holder, last);
    if (typeof number !== "number" || Math.abs(number) !== Number.MAX_SAFE_INTEGER) continue;
    (holder as Record<string | number, unknown>)[last] = exactInteger(BigInt(digits));
  }
  return JSON.stringify(copy);
}

/** JSON.stringify writes its digits (https://github.com/tc39/proposal-json-parse-with-source). */
export function exactInteger(value: bigint): unknown {
  return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(String(value));
}

function memberOf(value: unknown, step: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string | number, unknown>)[step];
}
