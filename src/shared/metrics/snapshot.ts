// A thread's metrics as plain data, so that they can cross to the server thread.
import type { MetricObjectWithValues, MetricValue } from "prom-client";

/** All families of one thread's registry. */
export interface MetricSnapshot {
  thread: string;
  families: MetricObjectWithValues<MetricValue<string>>[];
}
