// Reads Prometheus' protobuf pages: https://github.com/prometheus/client_model

import { BinaryReader } from "@bufbuild/protobuf/wire";

interface ReadMetric {
  labels: Record<string, string>;
  /** Value of a counter or gauge. */
  value?: number;
  /** Milliseconds since the epoch. */
  timestamp?: number;
  count?: number;
  sum?: number;
  /** Upper bound and cumulative count. */
  buckets?: [number, number][];
  schema?: number;
  zeroCount?: number;
  /** Index and count. */
  positive?: [number, number][];
  /** Quantile and value, of a summary. */
  quantiles?: [number, number][];
}

export interface ReadFamily {
  name: string;
  help: string;
  type: number;
  metrics: ReadMetric[];
}

export function readFamilies(page: Uint8Array): ReadFamily[] {
  const reader = new BinaryReader(page);
  const families: ReadFamily[] = [];
  while (reader.pos < reader.len) families.push(readFamily(reader.bytes()));
  return families;
}

function fields(bytes: Uint8Array, read: (number: number, reader: BinaryReader) => void): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) read(reader.tag()[0], reader);
}

function readFamily(bytes: Uint8Array): ReadFamily {
  const family: ReadFamily = { name: "", help: "", type: -1, metrics: [] };
  fields(bytes, (number, reader) => {
    if (number === 1) family.name = reader.string();
    else if (number === 2) family.help = reader.string();
    else if (number === 3) family.type = reader.int32();
    else family.metrics.push(readMetric(reader.bytes()));
  });
  return family;
}

function readMetric(bytes: Uint8Array): ReadMetric {
  const metric: ReadMetric = { labels: {} };
  fields(bytes, (number, reader) => {
    if (number === 1) {
      const pair = ["", ""];
      fields(reader.bytes(), (part, value) => (pair[part - 1] = value.string()));
      metric.labels[pair[0] ?? ""] = pair[1] ?? "";
    } else if (number === 4) Object.assign(metric, readSummary(reader.bytes()));
    else if (number === 7) Object.assign(metric, readHistogram(reader.bytes()));
    else if (number === 6) metric.timestamp = Number(reader.int64());
    else fields(reader.bytes(), (_part, value) => (metric.value = value.double()));
  });
  return metric;
}

function readSummary(bytes: Uint8Array): Omit<ReadMetric, "labels"> {
  const summary: Omit<ReadMetric, "labels"> & { quantiles: [number, number][] } = { quantiles: [] };
  fields(bytes, (number, reader) => {
    if (number === 1) summary.count = Number(reader.uint64());
    else if (number === 2) summary.sum = reader.double();
    else if (number === 3) {
      const quantile: [number, number] = [0, 0];
      fields(reader.bytes(), (part, value) => (quantile[part - 1] = value.double()));
      summary.quantiles.push(quantile);
    } else throw new Error(`unexpected field ${number} of a summary`);
  });
  return summary;
}

function readHistogram(bytes: Uint8Array): Omit<ReadMetric, "labels"> {
  const histogram: Omit<ReadMetric, "labels"> & { buckets: [number, number][] } = { buckets: [] };
  const indexes: number[] = [];
  const deltas: number[] = [];
  let end = 0;
  fields(bytes, (number, reader) => {
    if (number === 1) histogram.count = Number(reader.uint64());
    else if (number === 2) histogram.sum = reader.double();
    else if (number === 3) {
      const bucket: [number, number] = [0, 0];
      fields(reader.bytes(), (part, value) => {
        if (part === 1) bucket[1] = Number(value.uint64());
        else bucket[0] = value.double();
      });
      histogram.buckets.push(bucket);
    } else if (number === 5) histogram.schema = reader.sint32();
    else if (number === 6) reader.double();
    else if (number === 7) histogram.zeroCount = Number(reader.uint64());
    else if (number === 12) {
      fields(reader.bytes(), (part, value) => {
        if (part === 1) end += value.sint32();
        else for (let left = value.uint32(); left > 0; left--) indexes.push(end++);
      });
    } else if (number === 13) deltas.push(Number(reader.sint64()));
    else throw new Error(`unexpected field ${number} of a histogram`);
  });
  if (histogram.schema === undefined) return histogram;
  let count = 0;
  const positive = indexes.map((index, at): [number, number] => [index, (count += deltas[at] ?? 0)]);
  return { ...histogram, positive };
}
