// Adds up the snapshots of several threads into one Prometheus text exposition (format 0.0.4). Samples of the same
// family and labels are summed, for every type. A metric that must stay separate per thread has a `thread` label. A
// family whose type differs between threads is kept as the first thread declared it; the samples of the others are
// left out and counted in nodelet_metrics_conflicts.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { escapeHelp, escapeLabel } from "../../../shared/base/text/escape.js";
import type {
  MetricFamily,
  MetricSample,
  MetricSnapshot,
  NativeSample,
} from "../../../shared/telemetry/metrics/snapshot.js";
import { numberText } from "./number-text.js";
import { registeredFamily } from "./registered-metrics.js";

/**
 * One family per name, in name order, samples summed by labels; native samples of one series stay apart. The snapshots
 * are not changed. `counted`: with registered_metrics_total.
 */
export function mergeSnapshots(snapshots: readonly MetricSnapshot[], counted = false): MetricFamily[] {
  const merged = new Map<
    string,
    { family: MetricFamily; samples: Map<string, MetricSample>; native?: NativeSample[] }
  >();
  let conflicts = 0;
  for (const snapshot of snapshots) {
    for (const family of snapshot.families) {
      let entry = merged.get(family.name);
      if (entry === undefined) {
        entry = { family, samples: new Map() };
        merged.set(family.name, entry);
      }
      if (entry.family.type !== family.type) conflicts++;
      else {
        addSamples(entry.samples, family);
        if (family.native !== undefined) entry.native = [...(entry.native ?? []), ...family.native];
      }
    }
  }
  const families = [...merged.values()].map(({ family, samples, native }) =>
    omitUndefined<MetricFamily>({
      ...family,
      samples: [...samples.values()],
      native,
    }),
  );
  if (conflicts > 0) families.push(conflictFamily(conflicts));
  if (counted) families.push(registeredFamily(families));
  return families.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function addSamples(samples: Map<string, MetricSample>, family: MetricFamily): void {
  for (const sample of family.samples) {
    const key = `${sample.metricName ?? family.name}${labelText(sample.labels)}`;
    const known = samples.get(key);
    if (known === undefined) samples.set(key, { ...sample });
    else known.value += sample.value;
  }
}

function conflictFamily(value: number): MetricFamily {
  const help = "Number of metric families omitted because two threads declare them with different types";
  return { name: "nodelet_metrics_conflicts", help, type: "gauge", samples: [{ value, labels: {} }] };
}

/** Prometheus text of the merged snapshots; always ends in a newline. `counted`: with registered_metrics_total. */
export function renderExposition(snapshots: readonly MetricSnapshot[], counted = false): string {
  const lines: string[] = [];
  for (const family of mergeSnapshots(snapshots, counted)) {
    if (family.samples.length === 0) continue;
    lines.push(`# HELP ${family.name} ${escapeHelp(family.help)}`);
    lines.push(`# TYPE ${family.name} ${family.type}`);
    for (const sample of family.samples) {
      lines.push(`${sample.metricName ?? family.name}${labelText(sample.labels)} ${valueText(sample.value)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Bounds of buckets are numbers: queries select them by Go's text, e.g. le="1e+06". */
function labelValue(value: string | number): string {
  return typeof value === "number" ? numberText(value) : value;
}

/** Labels sorted by name, `le` last as readers expect it; "" when there are none. */
function labelText(labels: Record<string, string | number>): string {
  const names = Object.keys(labels).sort((a, b) => (a === "le" ? 1 : b === "le" ? -1 : a < b ? -1 : 1));
  if (names.length === 0) return "";
  return `{${names.map((name) => `${name}="${escapeLabel(labelValue(labels[name] ?? ""))}"`).join(",")}}`;
}

/** Whole figures stay whole: readers parse them, and people compare them. */
function valueText(value: number): string {
  return Number.isFinite(value) ? String(value) : numberText(value);
}
