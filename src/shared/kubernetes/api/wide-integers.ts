// Integers of 64 bits in an object that JavaScript's numbers cannot hold. The object has the nearest number that JSON
// writes exactly, with which the kubelet computes; beside it stand the digits as they were given, for texts that others
// read. Nearly no object has one: where there is none, nothing is done.

import type { FieldPath } from "./manifest/field-path.js";

export interface WideInteger {
  /** From the object's root. */
  readonly path: FieldPath;
  /** With its sign. */
  readonly digits: string;
}

/** Objects of the API server carry their digits under this key: invisible to JSON, and no text can bring it along. */
const DIGITS = Symbol("digits of wide integers");

const INT64_END = 2n ** 63n;

/** The nearest number that JSON writes exactly. As seconds it is as good as for ever. */
export function nearestSafe(value: number): number {
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** Digits of the object's integers that are beyond 2^53; undefined: it has none. */
export function digitsOf(object: unknown): readonly WideInteger[] | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  return (object as { [DIGITS]?: readonly WideInteger[] })[DIGITS];
}

/** The object itself, with digits for {@link digitsOf}. A copy made by spreading has them, too. */
export function withDigits<T extends object>(object: T, wide: readonly WideInteger[] | undefined): T {
  if (wide !== undefined && wide.length > 0) (object as { [DIGITS]?: readonly WideInteger[] })[DIGITS] = wide;
  return object;
}

/** Digits that the object has no longer: they go into its tree. */
export function takeDigits(object: object): readonly WideInteger[] {
  const wide = digitsOf(object) ?? [];
  Reflect.deleteProperty(object, DIGITS);
  return wide;
}

/** The digits of one field of an object, with paths from there. */
export function digitsBelow(wide: readonly WideInteger[] | undefined, field: string): WideInteger[] | undefined {
  const below = wide?.filter(({ path }) => path[0] === field && path.length > 1);
  return below?.map(({ path, digits }) => ({ path: path.slice(1), digits }));
}

/**
 * Puts the nearest safe number in the place of each integer that was rounded when `root` was read.
 *
 * @returns those of 64 bits. A place that has another value, as one of two equal keys, is left out.
 */
export function keepDigits(root: unknown, found: readonly WideInteger[]): WideInteger[] {
  return found.filter(({ path, digits }) => {
    const isThere = replaceAt(root, path, (value) => value === Number(digits), nearestSafe(Number(digits)));
    const value = BigInt(digits);
    return isThere && value >= -INT64_END && value < INT64_END;
  });
}

/** JSON of an object with the digits as given. A value that was replaced since, by a default, stays. */
export function textWithDigits(value: unknown, wide: readonly WideInteger[] | undefined): string {
  if (wide === undefined) return JSON.stringify(value);
  const copy = structuredClone(value);
  const isNearest = (value: unknown): boolean =>
    typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER;
  for (const { path, digits } of wide) replaceAt(copy, path, isNearest, exactInteger(BigInt(digits)));
  return JSON.stringify(copy);
}

/** JSON.stringify writes its digits (https://github.com/tc39/proposal-json-parse-with-source). */
export function exactInteger(value: bigint): unknown {
  return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(String(value));
}

/** Where an object holds an integer. */
export interface HeldInteger {
  readonly holder: object;
  readonly key: string | number;
  readonly digits: string;
}

/** The places of integers from the root that holds them all. */
export function placesOf(root: object, held: readonly HeldInteger[]): WideInteger[] {
  const byHolder = new Map<object, HeldInteger[]>();
  for (const one of held) {
    const known = byHolder.get(one.holder);
    if (known === undefined) byHolder.set(one.holder, [one]);
    else known.push(one);
  }
  const places: WideInteger[] = [];
  const visit = (value: object, path: FieldPath): void => {
    for (const { key, digits } of byHolder.get(value) ?? []) places.push({ path: [...path, key], digits });
    for (const [key, inner] of Object.entries(value) as [string, unknown][]) {
      if (typeof inner === "object" && inner !== null)
        visit(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  };
  visit(root, []);
  return places;
}

/** Puts `value` in the place of the one at `path` if that `isOld`. @returns false if it is not there, or another */
export function replaceAt(
  root: unknown,
  path: readonly (string | number)[],
  isOld: (value: unknown) => boolean,
  value: unknown,
): boolean {
  const last = path.at(-1);
  const holder = path.slice(0, -1).reduce<unknown>(memberOf, root);
  if (last === undefined || !isOld(memberOf(holder, last))) return false;
  (holder as Record<string | number, unknown>)[last] = value;
  return true;
}

function memberOf(value: unknown, step: string | number): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
  return (value as Record<string | number, unknown>)[step];
}
