// Metrics as rows of a table: a row makes its metric, and the types of the metrics follow from the rows.

import type { ThreadRegistry } from "./thread-registry.js";

/** Each row makes one metric in the registry of a thread. */
export type MetricRows = Readonly<Record<string, (registry: ThreadRegistry) => unknown>>;

/** The metrics of a table, by the names of its rows. */
export type MetricsOf<Rows extends MetricRows> = { readonly [Name in keyof Rows]: ReturnType<Rows[Name]> };

export function makeMetrics<Rows extends MetricRows>(rows: Rows, registry: ThreadRegistry): MetricsOf<Rows> {
  return Object.fromEntries(Object.entries(rows).map(([name, make]) => [name, make(registry)])) as MetricsOf<Rows>;
}
