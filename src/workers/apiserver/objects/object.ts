// Objects as the API server keeps them: trees of JSON, with typed metadata. Stored objects are frozen: who changes one
// works on a copy, so that a watch never sees a half-made change.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ObjectMeta as Metadata } from "../../../shared/kubernetes/api/meta.js";

export type Fields = Record<string, unknown>;

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: NonNullable<Metadata["ownerReferences"]>;
  [field: string]: unknown;
}

export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: Fields;
  status?: Fields;
  [field: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The map at a field; an empty one when there is none. */
export function fieldsAt(from: Fields | undefined, field: string): Fields {
  const value = from?.[field];
  return isFields(value) ? value : {};
}

/** The maps of a list at a field; none when there is no list. */
export function listAt(from: Fields | undefined, field: string): Fields[] {
  const value = from?.[field];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function textAt(from: Fields | undefined, field: string): string | undefined {
  const value = from?.[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What every object inherits is no field of it. */
export function fieldOf(from: Fields, field: string): unknown {
  return Object.hasOwn(from, field) ? from[field] : undefined;
}

const ORDINARY = { configurable: true, enumerable: true, writable: true };

/** For names that a client chooses: "__proto__" becomes a field like any other, as JSON.parse has it. */
export function setField(target: Fields, field: string, value: unknown): void {
  if (field === "__proto__") Object.defineProperty(target, field, { value, ...ORDINARY });
  else target[field] = value;
}

export function removeField(target: Fields, field: string): void {
  Reflect.deleteProperty(target, field);
}

/** null means that a field is not there. Changes the tree that it is given. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) for (const item of value) withoutNulls(item);
  else if (isFields(value)) {
    for (const [field, inner] of Object.entries(value)) {
      if (inner === null) Reflect.deleteProperty(value, field);
      else withoutNulls(inner);
    }
  }
  return value;
}

/** Copy of a JSON value. `structuredClone` takes ten times as long. */
export function copyOf<T>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null) return value;
  const copy: Fields = {};
  for (const [field, inner] of Object.entries(value)) setField(copy, field, copied(inner));
  return copy;
}

export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}

export function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}

/** The last second that RFC 3339 has. */
const LAST_MS = Date.parse("9999-12-31T23:59:59Z");

/** RFC 3339 in whole seconds, the unit of metadata. */
export function timeText(ms: number): string {
  return `${new Date(Math.min(ms, LAST_MS)).toISOString().slice(0, 19)}Z`;
}

export function nowText(clock: Clock): string {
  return timeText(clock.now());
}
