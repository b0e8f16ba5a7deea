// Eviction thresholds from the four maps that describe them.

import { nearestName } from "../../../shared/base/text/nearest-name.js";
import { quoteStart } from "../../../shared/base/text/quote.js";
import {
  EVICTION_SIGNALS,
  isEvictionSignal,
  partOf,
  type EvictionSignal,
  type EvictionThreshold,
  type ThresholdValue,
} from "../../../shared/kubernetes/api/eviction-threshold.js";
import { value as wholeUnits } from "../../../shared/kubernetes/api/quantity.js";
import { parseDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import { parsePercentage } from "./parse-percentage.js";
import { readQuantity } from "./parse-reserved.js";
import type { ConfigView } from "./rule.js";
type TextMap = Readonly<Record<string, string>>;

export interface EvictionMaps {
  readonly evictionHard?: TextMap | undefined;
  readonly evictionSoft?: TextMap | undefined;
  readonly evictionSoftGracePeriod?: TextMap | undefined;
  readonly evictionMinimumReclaim?: TextMap | undefined;
}

export interface EvictionThresholds {
  /** Hard ones first. Without those turned off by 0% or 100%, and without what can't be read. */
  thresholds: EvictionThreshold[];
  violations: Violation[];
}

/** Pure; the values of containerfs signals are read like all others, the one who uses them overwrites them. */
export function parseEviction(maps: EvictionMaps): EvictionThresholds {
  const violations: Violation[] = [];
  const read = <T>(name: keyof EvictionMaps, one: (text: string) => T | Problem): Map<EvictionSignal, T> =>
    readMap(name, maps[name] ?? {}, one, violations);
  const hard = read("evictionHard", readThreshold);
  const soft = read("evictionSoft", readThreshold);
  const grace = read("evictionSoftGracePeriod", readGrace);
  const reclaim = read("evictionMinimumReclaim", readReclaim);
  const withReclaim = (signal: EvictionSignal): { minReclaim?: ThresholdValue } => {
    const minReclaim = reclaim.get(signal);
    return minReclaim === undefined ? {} : { minReclaim };
  };
  const thresholds: EvictionThreshold[] = [];
  for (const [signal, value] of hard) {
    if (value !== "off") thresholds.push({ signal, value, graceMs: 0, hard: true, ...withReclaim(signal) });
  }
  for (const [signal, value] of soft) {
    if (value === "off") continue;
    const graceMs = grace.get(signal);
    if (graceMs !== undefined) {
      thresholds.push({ signal, value, graceMs, hard: false, ...withReclaim(signal) });
    } else if (maps.evictionSoftGracePeriod?.[signal] === undefined) {
      violations.push({
        path: `evictionSoft[${signal}]`,
        message: `has no grace period; set evictionSoftGracePeriod[${signal}], such as 1m30s`,
      });
    }
  }
  return { thresholds, violations };
}

/** Any: a part of it that is larger is more than 100%. */
const CAPACITY = 2 ** 40;

/** Problem of a threshold text. */
class Problem {
  constructor(readonly message: string) {}
}

function readMap<T>(
  name: string,
  given: TextMap,
  one: (text: string) => T | Problem,
  violations: Violation[],
): Map<EvictionSignal, T> {
  const entries = new Map<EvictionSignal, T>();
  for (const [signal, text] of Object.entries(given)) {
    const path = `${name}[${signal}]`;
    const read = one(text);
    if (!isEvictionSignal(signal)) violations.push({ path, message: unknownSignal(signal) });
    else if (read instanceof Problem) violations.push({ path, message: read.message });
    else entries.set(signal, read);
  }
  return entries;
}

function unknownSignal(signal: string): string {
  const meant = nearestName(signal, EVICTION_SIGNALS);
  const advice = meant === undefined ? `known signals are ${EVICTION_SIGNALS.join(", ")}` : `did you mean ${meant}?`;
  return `${quoteStart(signal)} is not an eviction signal; ${advice}`;
}

function readThreshold(text: string): ThresholdValue | "off" | Problem {
  const percent = parsePercentage(text);
  // As upstream: 100% alone turns the signal off, and any other text for it is a threshold that is always met.
  if (text === "100%" || percent === 0 || Number.isNaN(percent)) return "off";
  if (percent !== undefined) {
    const isWithin = percent > 0 && partOf(CAPACITY, percent) <= CAPACITY;
    return isWithin
      ? { kind: "percent", percent }
      : new Problem(`${quoteStart(text)} is not a percentage from 0% to 100%`);
  }
  const amount = readAmount(text);
  if (amount === undefined)
    return new Problem(`${quoteStart(text)} is neither a quantity such as 100Mi nor a percentage such as 10%`);
  if (amount.units <= 0n) return new Problem(`${quoteStart(text)} is not a quantity above 0; 0% turns the signal off`);
  return amount;
}

function readReclaim(text: string): ThresholdValue | Problem {
  const percent = parsePercentage(text);
  if (percent !== undefined) {
    const isUsable = percent > 0 && Number.isFinite(percent);
    return isUsable ? { kind: "percent", percent } : new Problem(`${quoteStart(text)} is not a percentage above 0%`);
  }
  const amount = readAmount(text);
  if (amount === undefined)
    return new Problem(`${quoteStart(text)} is neither a quantity such as 500Mi nor a percentage such as 5%`);
  return amount.units < 0n ? new Problem(`${quoteStart(text)} is not a quantity of 0 or more`) : amount;
}

function readGrace(text: string): number | Problem {
  const ms = parseDuration(text);
  if (ms === undefined) return new Problem(`${quoteStart(text)} is not a duration such as 1m30s`);
  return ms < 0 ? new Problem(`${quoteStart(text)} is not a duration of 0 or more`) : ms;
}

function readAmount(text: string): (ThresholdValue & { kind: "quantity" }) | undefined {
  const quantity = readQuantity(text);
  if (quantity === undefined) return undefined;
  return { kind: "quantity", units: wholeUnits(quantity), format: quantity.format };
}

// The rule of the eviction fields.
export function eviction(config: ConfigView): Iterable<Violation> {
  return parseEviction({
    evictionHard: config.get("evictionHard"),
    evictionSoft: config.get("evictionSoft"),
    evictionSoftGracePeriod: config.get("evictionSoftGracePeriod"),
    evictionMinimumReclaim: config.get("evictionMinimumReclaim"),
  }).violations;
}
