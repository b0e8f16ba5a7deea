// A thread's metrics as plain data, so that they cross threads by structured clone.

export type MetricType = "counter" | "gauge" | "histogram" | "summary";

export interface MetricSample {
  value: number;
  labels: Record<string, string | number>;
  /** Set when the sample's name differs from the family's: name_bucket, name_sum, name_count. */
  metricName?: string | undefined;
}

export interface MetricFamily {
  name: string;
  help: string;
  type: MetricType;
  samples: MetricSample[];
  /** Only for a histogram that counts in native buckets, too; series without an observation are left out. */
  native?: NativeSample[] | undefined;
}

/** The native buckets of one series: pairs of index and count. */
export interface NativeSample {
  labels: Record<string, string | number>;
  /** Each power of two is divided into 2^schema buckets. */
  schema: number;
  zeroCount: number;
  positive: [index: number, count: number][];
  negative: [index: number, count: number][];
}

export interface MetricSnapshot {
  /** The thread that counted: "main", "pleg", "server". */
  thread: string;
  families: MetricFamily[];
}

/** Native buckets of a histogram's series, while they are counted. */
export interface NativeSeries {
  export(): NativeSample[];
}
