// A thread's metrics as plain data, so that they cross threads by structured clone.

export type MetricType = "counter" | "gauge" | "histogram" | "summary";

export interface MetricSample {
  value: number;
  labels: Record<string, string | number>;
  /** Set when the sample's name differs from the family's: name_bucket, name_sum, name_count. */
  metricName?: string;
}

export interface MetricFamily {
  name: string;
  help: string;
  type: MetricType;
  samples: MetricSample[];
}

export interface MetricSnapshot {
  /** The thread that counted: "main", "pleg", "server". */
  thread: string;
  families: MetricFamily[];
}
