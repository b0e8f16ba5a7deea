// Metrics as delimited messages io.prometheus.client.MetricFamily. Field numbers:
// https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { mergeNative, ZERO_THRESHOLD } from "../../../shared/telemetry/metrics/native.js";
import type { MetricFamily, MetricSample, NativeSample } from "../../../shared/telemetry/metrics/snapshot.js";

export const TYPES = { counter: 0, gauge: 1, summary: 2, histogram: 4 } as const;
/** Field of a MetricFamily that has a Metric, fields of a Metric that have its value, and that of its time. */
export const FIELDS = { metric: 4, counter: 3, gauge: 2, summary: 4, histogram: 7, timestamp: 6 } as const;

type Labels = MetricSample["labels"];

/** Each message after its length. Families without a sample are left out. */
export function protobufExposition(families: readonly MetricFamily[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const family of families) {
    if (family.samples.length === 0) continue;
    const message = familyMessage(family);
    parts.push(new BinaryWriter().uint32(message.length).finish(), message);
  }
  return Buffer.concat(parts);
}

function familyMessage(family: MetricFamily): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(family.name);
  writer.tag(2, WireType.LengthDelimited).string(family.help);
  writer.tag(3, WireType.Varint).int32(TYPES[family.type]);
  for (const { labels, parts } of seriesOf(family)) {
    writer.tag(FIELDS.metric, WireType.LengthDelimited).fork();
    for (const [name, value] of Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) {
      writeLabel(writer, name, String(value));
    }
    writer.tag(FIELDS[family.type], WireType.LengthDelimited).fork();
    writeValue(writer, family, labels, parts);
    writer.join().join();
  }
  return writer.finish();
}

/** One label of the Metric that is being written. */
export function writeLabel(writer: BinaryWriter, name: string, value: string): void {
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(name);
  writer.tag(2, WireType.LengthDelimited).string(value);
  writer.join();
}

interface Series {
  labels: Labels;
  parts: MetricSample[];
}

/** Samples of one set of labels: of a histogram or summary all its parts. */
function seriesOf({ type, samples }: MetricFamily): Series[] {
  const own = type === "histogram" ? "le" : type === "summary" ? "quantile" : undefined;
  const series = new Map<string, Series>();
  for (const sample of samples) {
    const labels = Object.fromEntries(Object.entries(sample.labels).filter(([name]) => name !== own));
    const key = keyOf(labels);
    const known = series.get(key);
    if (known === undefined) series.set(key, { labels, parts: [sample] });
    else known.parts.push(sample);
  }
  return [...series.values()];
}

function keyOf(labels: Labels): string {
  return JSON.stringify(
    Object.entries(labels)
      .map(([name, value]) => [name, String(value)])
      .sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
  );
}

function writeValue(writer: BinaryWriter, family: MetricFamily, labels: Labels, parts: readonly MetricSample[]): void {
  const { name, type } = family;
  const part = (suffix: string): number => parts.find(({ metricName }) => metricName === name + suffix)?.value ?? 0;
  if (type === "counter" || type === "gauge") {
    writer.tag(1, WireType.Bit64).double(parts[0]?.value ?? 0);
    return;
  }
  writer.tag(1, WireType.Varint).uint64(part("_count"));
  writer.tag(2, WireType.Bit64).double(part("_sum"));
  const own = type === "histogram" ? "le" : "quantile";
  for (const { labels: all, value } of parts) {
    // The last bucket is the count.
    if (all[own] === undefined || all[own] === "+Inf") continue;
    writer.tag(3, WireType.LengthDelimited).fork();
    if (type === "histogram") {
      writer.tag(1, WireType.Varint).uint64(value);
      writer.tag(2, WireType.Bit64).double(Number(all[own]));
    } else {
      writer.tag(1, WireType.Bit64).double(Number(all[own]));
      writer.tag(2, WireType.Bit64).double(value);
    }
    writer.join();
  }
  if (family.native === undefined) return;
  const key = keyOf(labels);
  writeNative(writer, mergeNative(family.native.filter((sample) => keyOf(sample.labels) === key)));
}

function writeNative(writer: BinaryWriter, sample: Omit<NativeSample, "labels">): void {
  writer.tag(5, WireType.Varint).sint32(sample.schema);
  writer.tag(6, WireType.Bit64).double(ZERO_THRESHOLD);
  writer.tag(7, WireType.Varint).uint64(sample.zeroCount);
  writeBuckets(writer, sample.negative, 9);
  writeBuckets(writer, sample.positive, 12);
}

/** Spans of consecutive buckets in field `spans`, then the difference of each count to the one before. */
function writeBuckets(writer: BinaryWriter, buckets: NativeSample["positive"], spans: 9 | 12): void {
  const sorted = buckets.toSorted(([a], [b]) => a - b);
  for (let from = 0, end = 0; from < sorted.length;) {
    const start = sorted[from]?.[0] ?? 0;
    let length = 1;
    while (sorted[from + length]?.[0] === start + length) length++;
    writer.tag(spans, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).sint32(start - end);
    writer.tag(2, WireType.Varint).uint32(length);
    writer.join();
    end = start + length;
    from += length;
  }
  let before = 0;
  for (const [, count] of sorted) {
    writer.tag(spans + 1, WireType.Varint).sint64(count - before);
    before = count;
  }
}
