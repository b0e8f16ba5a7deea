// Adds the counters and histograms of a thread that has ended to those of its earlier runs. Gauges and summaries
// described the thread, and end with it.

import type { MetricFamily, MetricSample, MetricSnapshot, NativeSample } from "./snapshot.js";

/** Neither is changed. The result has one sample for each series, however often this is repeated. */
export function addCounters(earlier: MetricSnapshot | undefined, last: MetricSnapshot): MetricSnapshot {
  const families = new Map<string, MetricFamily>();
  for (const family of [...(earlier?.families ?? []), ...last.families]) {
    if (family.type !== "counter" && family.type !== "histogram") continue;
    const known = families.get(family.name);
    families.set(family.name, known === undefined ? family : sumOf(known, family));
  }
  return { thread: last.thread, families: [...families.values()] };
}

function sumOf(one: MetricFamily, other: MetricFamily): MetricFamily {
  const native = [...(one.native ?? []), ...(other.native ?? [])];
  return {
    ...one,
    samples: summed([...one.samples, ...other.samples], keyOf, (a, b) => ({ ...a, value: a.value + b.value })),
    native: native.length > 0 ? summed(native, nativeKeyOf, addNative) : undefined,
  };
}

function summed<T>(samples: readonly T[], key: (sample: T) => string, add: (a: T, b: T) => T): T[] {
  const sums = new Map<string, T>();
  for (const sample of samples) {
    const known = sums.get(key(sample));
    sums.set(key(sample), known === undefined ? sample : add(known, sample));
  }
  return [...sums.values()];
}

function keyOf({ metricName = "", labels }: MetricSample): string {
  return `${metricName} ${labelsKey(labels)}`;
}

/** Buckets of different widths are not added: such samples stay apart. */
function nativeKeyOf({ labels, schema }: NativeSample): string {
  return `${schema} ${labelsKey(labels)}`;
}

function labelsKey(labels: MetricSample["labels"]): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function addNative(a: NativeSample, b: NativeSample): NativeSample {
  return {
    ...a,
    zeroCount: a.zeroCount + b.zeroCount,
    positive: addBuckets(a.positive, b.positive),
    negative: addBuckets(a.negative, b.negative),
  };
}

function addBuckets(a: NativeSample["positive"], b: NativeSample["positive"]): NativeSample["positive"] {
  const counts = new Map(a);
  for (const [index, count] of b) counts.set(index, (counts.get(index) ?? 0) + count);
  return [...counts].sort(([one], [other]) => one - other);
}
