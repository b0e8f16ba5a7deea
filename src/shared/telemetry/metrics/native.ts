// Native histograms (gate NativeHistograms): observations counted in exponential buckets beside the classic ones, in
// upstream's resolution. Loaded only with the gate. https://prometheus.io/docs/specs/native_histograms/
// Invariant: a series never has more than MAX_BUCKETS buckets; above that its resolution is halved.

import type { Histogram } from "./prom.js";
import type { NativeSample, NativeSeries } from "./snapshot.js";

/** A bucket is at most 10 % wider than the one before: eight buckets for each power of two. */
const SCHEMA = 3;
const LOWEST_SCHEMA = -4;
const MAX_BUCKETS = 160;
/** Values up to here, of either sign, count as zero. */
export const ZERO_THRESHOLD = 2 ** -128;

interface Counts {
  labels: Record<string, string | number>;
  schema: number;
  zeroCount: number;
  positive: Map<number, number>;
  negative: Map<number, number>;
}

/** Counts each observation of the histogram from now on. */
export function countNatively(histogram: Histogram): NativeSeries {
  const series = new Map<string, Counts>();
  const classic = histogram.observe.bind(histogram) as (...observation: unknown[]) => void;
  const observe = (...observation: [number] | [Record<string, string | number> | 0, number]): void => {
    classic(...observation);
    const [labels, value] = observation.length === 1 ? [{}, observation[0]] : [observation[0] || {}, observation[1]];
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
    let counts = series.get(key);
    if (counts === undefined) {
      counts = { labels, schema: SCHEMA, zeroCount: 0, positive: new Map(), negative: new Map() };
      series.set(key, counts);
    }
    count(counts, value);
  };
  Object.assign(histogram, { observe });
  return {
    export: () =>
      [...series.values()].map(({ positive, negative, ...rest }): NativeSample => ({
        ...rest,
        positive: [...positive],
        negative: [...negative],
      })),
  };
}

function count(counts: Counts, value: number): void {
  if (Number.isNaN(value)) return;
  if (Math.abs(value) <= ZERO_THRESHOLD) counts.zeroCount++;
  else add(value > 0 ? counts.positive : counts.negative, bucketOf(Math.abs(value), counts.schema), 1);
  limit(counts);
}

/** The bucket (base^(index-1), base^index] of a positive value, base 2^(2^-schema). */
function bucketOf(value: number, schema: number): number {
  if (value === Infinity) return bucketOf(Number.MAX_VALUE, schema) + 1;
  const perPower = 2 ** schema;
  const index = Math.ceil(Math.log2(value) * perPower);
  // The logarithm of a bound may come out a little above or below it.
  if (value <= 2 ** ((index - 1) / perPower)) return index - 1;
  return value > 2 ** (index / perPower) ? index + 1 : index;
}

function add(buckets: Map<number, number>, index: number, by: number): void {
  buckets.set(index, (buckets.get(index) ?? 0) + by);
}

function limit(counts: Counts): void {
  while (counts.positive.size + counts.negative.size > MAX_BUCKETS && counts.schema > LOWEST_SCHEMA) halve(counts);
}

function halve(counts: Counts): void {
  counts.schema--;
  counts.positive = halved(counts.positive);
  counts.negative = halved(counts.negative);
}

/** Two buckets become one. */
function halved(buckets: Map<number, number>): Map<number, number> {
  const wide = new Map<number, number>();
  for (const [index, value] of buckets) add(wide, Math.ceil(index / 2), value);
  return wide;
}

/** The sum of the samples of one series, in the lowest of their resolutions. */
export function mergeNative(samples: readonly NativeSample[]): Omit<NativeSample, "labels"> {
  const sum: Counts = { labels: {}, schema: SCHEMA, zeroCount: 0, positive: new Map(), negative: new Map() };
  for (const { schema, zeroCount, positive, negative } of samples) {
    const next: Counts = { labels: {}, schema, zeroCount, positive: new Map(positive), negative: new Map(negative) };
    while (sum.schema > next.schema) halve(sum);
    while (next.schema > sum.schema) halve(next);
    sum.zeroCount += zeroCount;
    for (const [index, value] of next.positive) add(sum.positive, index, value);
    for (const [index, value] of next.negative) add(sum.negative, index, value);
    limit(sum);
  }
  return { ...sum, positive: [...sum.positive], negative: [...sum.negative] };
}
