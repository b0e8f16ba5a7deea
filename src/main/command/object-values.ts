// Values that are lists of objects: how a flag writes them, how JSON has them. Text that is not of the type yields
// undefined, as in values.ts; whether keys, effects and amounts make sense is validation's business, save for what
// upstream's flags refuse themselves.

import { InvalidQuantityError, parseQuantity } from "../../shared/kubernetes/api/quantity.js";
import type { MemoryReservation, ModuleVerbosity, ShutdownPriority, Taint } from "./value-types.js";

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const INT32_MAX = 2147483647;

export function isQuantity(text: string): boolean {
  try {
    parseQuantity(text);
    return true;
  } catch (error) {
    if (error instanceof InvalidQuantityError) return false;
    throw error;
  }
}

/**
 * "key=value:Effect,key:Effect"; the same key with the same effect twice is refused. Upstream's reader is that of
 * `kubectl taint`: a taint with "-" behind it is to be removed, and there is none to remove.
 */
export function taintsFromText(text: string): Taint[] | undefined {
  const taints: (Taint | undefined)[] = [];
  for (const one of text === "" ? [] : text.split(",")) {
    const isRemoval = one.endsWith("-");
    const taint = taintFromText(isRemoval ? one.slice(0, -1) : one, isRemoval);
    if (!isRemoval || taint === undefined) taints.push(taint);
  }
  const seen = new Set(taints.map((taint) => `${taint?.key}:${taint?.effect}`));
  return seen.size < taints.length ? undefined : whole(taints);
}

/** @param mayLackEffect the key alone is enough */
function taintFromText(text: string, mayLackEffect: boolean): Taint | undefined {
  const [, key = "", value = "", effect] = /^([^=:]+)(?:=([^=:]*))?(?::([A-Za-z]+))?$/.exec(text) ?? [];
  if (key === "") return undefined;
  if (effect === undefined) return mayLackEffect && key === text ? { key, value, effect: "" } : undefined;
  return EFFECTS.includes(effect) ? { key, value, effect } : undefined;
}

export function taintsToText(taints: readonly Taint[]): string {
  return taints.map(({ key, value, effect }) => `${key}${value === "" ? "" : `=${value}`}:${effect}`).join(",");
}

/** "0:memory=1Gi,hugepages-2Mi=64Mi;1:memory=1Gi". */
export function reservedMemoryFromText(text: string): MemoryReservation[] | undefined {
  return text === "" ? [] : whole(text.split(";").map(reservationFromText));
}

function reservationFromText(text: string): MemoryReservation | undefined {
  const [node = "", amounts, ...more] = text.split(":");
  if (!/^[+-]?\d{1,9}$/.test(node) || amounts === undefined || more.length > 0) return undefined;
  const limits: Record<string, string> = {};
  for (const amount of amounts.split(",")) {
    const [, resource = "", quantity = ""] = /^(memory|hugepages-[^=]+)=([^=]+)$/.exec(amount) ?? [];
    if (!isQuantity(quantity) || !/^\+?[0.]*[1-9]/.test(quantity)) return undefined;
    limits[resource] = quantity;
  }
  return { numaNode: Number(node), limits };
}

export function reservedMemoryToText(reservations: readonly MemoryReservation[]): string {
  return reservations.map(({ numaNode, limits }) => `${numaNode}:${pairsToText(limits)}`).join(";");
}

/** "pattern=N,pattern=N"; empty parts count for nothing. */
export function vmoduleFromText(text: string): ModuleVerbosity[] | undefined {
  const parts = text.split(",").filter((part) => part !== "");
  return whole(
    parts.map((part) => {
      const [, filePattern = "", level = ""] = /^([^=]+)=(\d{1,10})$/.exec(part) ?? [];
      return level === "" || Number(level) > INT32_MAX ? undefined : { filePattern, verbosity: Number(level) };
    }),
  );
}

export function vmoduleToText(modules: readonly ModuleVerbosity[]): string {
  return modules.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(",");
}

/** "key=value,key=value" in the order of the keys. */
export function pairsToText(map: Readonly<Record<string, unknown>>, separator = "="): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}${separator}${String(value)}`)
    .sort()
    .join(",");
}

export function taintFromJson(item: unknown): Taint | undefined {
  const { key = "", value = "", effect = "", timeAdded, ...other } = members(item);
  if (typeof key !== "string" || typeof value !== "string" || typeof effect !== "string") return undefined;
  if (Object.keys(other).length > 0) return undefined;
  if (timeAdded === undefined) return { key, value, effect };
  return typeof timeAdded === "string" ? { key, value, effect, timeAdded } : undefined;
}

export function reservationFromJson(item: unknown): MemoryReservation | undefined {
  const { numaNode = 0, limits = {}, ...other } = members(item);
  if (!isInteger(numaNode, -INT32_MAX - 1, INT32_MAX) || Object.keys(other).length > 0) return undefined;
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) return undefined;
  const amounts = Object.entries(limits).map(([resource, amount]): [string, string] => [resource, String(amount)]);
  const fine = Object.values(limits).every((amount) => typeof amount === "string" || typeof amount === "number");
  if (!fine || !amounts.every(([, amount]) => isQuantity(amount))) return undefined;
  return { numaNode, limits: Object.fromEntries(amounts) };
}

export function shutdownPriorityFromJson(item: unknown): ShutdownPriority | undefined {
  const { priority = 0, shutdownGracePeriodSeconds = 0, ...other } = members(item);
  if (!isInteger(priority, -INT32_MAX - 1, INT32_MAX) || Object.keys(other).length > 0) return undefined;
  if (!isInteger(shutdownGracePeriodSeconds, -(2 ** 63), 2 ** 63)) return undefined;
  return { priority, shutdownGracePeriodSeconds };
}

export function moduleVerbosityFromJson(item: unknown): ModuleVerbosity | undefined {
  const { filePattern = "", verbosity = 0, ...other } = members(item);
  if (typeof filePattern !== "string" || !isInteger(verbosity, 0, 4294967295)) return undefined;
  return Object.keys(other).length > 0 ? undefined : { filePattern, verbosity };
}

/** The members of an object. A value that is not an object yields one member that no type accepts. */
function members(item: unknown): Record<string, unknown> {
  const isObject = typeof item === "object" && item !== null && !Array.isArray(item);
  return isObject ? { ...item } : { "not an object": true };
}

function isInteger(value: unknown, low: number, high: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}

/** The list, unless an item is missing. */
export function whole<T>(items: readonly (T | undefined)[]): T[] | undefined {
  const known = items.filter((item) => item !== undefined);
  return known.length === items.length ? known : undefined;
}
