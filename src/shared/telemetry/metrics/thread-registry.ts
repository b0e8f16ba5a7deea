// One metrics registry per thread. Each thread counts its own metrics; no memory is shared. The server thread requests
// a snapshot from each thread and adds them up. Making a metric twice under one name returns the first one.

import { prom, type Counter, type Gauge, type Histogram, type Registry } from "./prom.js";
import type { MetricFamily, MetricSample, MetricSnapshot, MetricType, NativeSeries } from "./snapshot.js";

/** prom-client's default buckets are upstream's default ones too. Unit: seconds. */
export const DEFAULT_BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `count` bucket bounds, each `factor` times the one before. Multiplied step by step, as Go's client does it. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

/** One series of a summary. */
export interface Summary<L extends string> {
  labels: Readonly<Record<L, string>>;
  quantiles: readonly (readonly [quantile: number, value: number])[];
  /** Sum of all observations so far; `count` is their number. */
  sum: number;
  count: number;
}

let countNatively: ((histogram: Histogram) => NativeSeries) | undefined;

/** Every histogram that this thread makes from now on counts in native buckets too (gate NativeHistograms). */
export async function enableNativeHistograms(): Promise<void> {
  ({ countNatively } = await import("./native.js"));
}

export class ThreadRegistry {
  private readonly natives = new Map<string, NativeSeries>();
  private readonly registry: Registry = new prom.Registry();
  private readonly summaries = new Map<string, () => MetricFamily>();
  private readonly collectors: (() => void | Promise<void>)[] = [];

  constructor(readonly thread: string) {}

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    const existing = this.registry.getSingleMetric<L>(name);
    if (existing instanceof prom.Counter) return existing;
    return new prom.Counter<L>({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    const existing = this.registry.getSingleMetric<L>(name);
    if (existing instanceof prom.Gauge) return existing;
    return new prom.Gauge<L>({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    buckets: readonly number[] = DEFAULT_BUCKETS,
  ): Histogram<L> {
    const existing = this.registry.getSingleMetric<L>(name);
    if (existing instanceof prom.Histogram) return existing;
    const histogram = new prom.Histogram<L>({
      name,
      help,
      labelNames: [...labelNames],
      buckets: [...buckets],
      registers: [this.registry],
    });
    if (countNatively !== undefined) this.natives.set(name, countNatively(histogram));
    return histogram;
  }

  /**
   * Quantiles that their owner measures. `read` is called for each snapshot; each element has the labels of one series.
   * Making it twice under one name keeps the first one.
   */
  summary<L extends string = never>(
    name: string,
    help: string,
    _labelNames: readonly L[],
    read: () => readonly Summary<L>[],
  ): void {
    if (this.summaries.has(name)) return;
    this.summaries.set(name, () => ({
      name,
      help,
      type: "summary",
      samples: read().flatMap((one) => samplesOf(name, one)),
    }));
  }

  /** Runs before each snapshot, to read state that is not counted as it changes. */
  onSnapshot(collect: () => void | Promise<void>): void {
    this.collectors.push(collect);
  }

  /** Everything counted so far, as data that structured clone accepts. */
  async exportSnapshot(): Promise<MetricSnapshot> {
    await Promise.all(this.collectors.map(async (collect) => collect()));
    const families = await this.registry.getMetricsAsJSON();
    const counted = families.map((family) => this.withNative(toFamily(family)));
    return { thread: this.thread, families: [...counted, ...[...this.summaries.values()].map((read) => read())] };
  }

  private withNative(family: MetricFamily): MetricFamily {
    const native = this.natives.get(family.name);
    return native === undefined ? family : { ...family, native: native.export() };
  }
}

function samplesOf<L extends string>(name: string, { labels, quantiles, sum, count }: Summary<L>): MetricSample[] {
  return [
    ...quantiles.map(([quantile, value]) => ({ value, labels: { ...labels, quantile: String(quantile) } })),
    { value: sum, labels, metricName: `${name}_sum` },
    { value: count, labels, metricName: `${name}_count` },
  ];
}

interface PromFamily {
  name: string;
  help: string;
  /** prom-client's objects carry the type as text, although its typings declare otherwise. */
  type: unknown;
  values: { value: number; labels: Partial<Record<string, string | number>>; metricName?: string }[];
}

function toFamily(family: PromFamily): MetricFamily {
  return {
    name: family.name,
    help: family.help,
    type: String(family.type) as MetricType,
    samples: family.values.map(toSample),
  };
}

function toSample(value: PromFamily["values"][number]): MetricSample {
  const labels: Record<string, string | number> = {};
  for (const [name, text] of Object.entries(value.labels)) if (text !== undefined) labels[name] = text;
  const { metricName } = value;
  return metricName === undefined ? { value: value.value, labels } : { value: value.value, labels, metricName };
}
