// Evaluates a sample with those before it: the pressures that hold, and the thresholds that require action. Pure: the
// state comes in and goes out.

import { PRESSURES, type Pressure } from "../../shared/contracts/node-status.js";
import type { EvictionThreshold } from "../../shared/kubernetes/api/eviction-threshold.js";
import type { Observations } from "./observe.js";
import { isMemory, SIGNAL_FACTS } from "./signals.js";
import { keyOf, metOf } from "./thresholds.js";

/** State from one judgement to the next. Times are monotonic ms. */
export interface Memory {
  /** Time since which each met threshold is met, by its key. */
  readonly metSince: ReadonlyMap<string, number>;
  /** Time at which each pressure was observed last. */
  readonly pressedAt: ReadonlyMap<Pressure, number>;
  /** Thresholds that required action: they stay met until their minimum reclaim is reached, too. */
  readonly driving: ReadonlySet<string>;
  readonly observations: Observations;
}

export const NO_MEMORY: Memory = {
  metSince: new Map(),
  pressedAt: new Map(),
  driving: new Set(),
  observations: new Map(),
};

export interface Judgement {
  /** Pressures observed now, and those observed within the transition period. */
  pressures: Pressure[];
  /** Met for longer than their grace period, by fresh figures; the most urgent first. */
  due: EvictionThreshold[];
  memory: Memory;
}

export function judge(
  thresholds: readonly EvictionThreshold[],
  observations: Observations,
  before: Memory,
  now: number,
  transitionPeriodMs: number,
): Judgement {
  const met = new Set(metOf(thresholds, observations, false));
  const driven = thresholds.filter((threshold) => before.driving.has(keyOf(threshold)));
  for (const threshold of metOf(driven, observations, true)) met.add(threshold);

  const metSince = new Map([...met].map((each) => [keyOf(each), before.metSince.get(keyOf(each)) ?? now]));
  const pressedAt = new Map(before.pressedAt);
  for (const { signal } of met) pressedAt.set(SIGNAL_FACTS[signal].pressure, now);
  const pressures = PRESSURES.filter((pressure) => {
    const at = pressedAt.get(pressure);
    // A pressure observed now holds, however short the period is.
    return at !== undefined && (at === now || now - at < transitionPeriodMs);
  });

  const pastGrace = thresholds.filter(
    (each) => met.has(each) && now - (metSince.get(keyOf(each)) ?? now) >= each.graceMs,
  );
  const isFresh = ({ signal }: EvictionThreshold): boolean => {
    const last = before.observations.get(signal);
    return last === undefined || (observations.get(signal)?.at ?? -Infinity) > last.at;
  };
  return {
    pressures,
    due: byUrgency(pastGrace.filter(isFresh)),
    memory: { metSince, pressedAt, driving: new Set(pastGrace.map(keyOf)), observations },
  };
}

/** Memory first: it runs out fastest and affects the whole node. The others in the configured order. */
function byUrgency(thresholds: readonly EvictionThreshold[]): EvictionThreshold[] {
  return thresholds.toSorted((a, b) => Number(isMemory(b.signal)) - Number(isMemory(a.signal)));
}
