// Counters of a thread that has ended, added to those of its earlier runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addCounters } from "../../../../src/shared/telemetry/metrics/add-counters.js";
import type { MetricFamily, MetricSnapshot } from "../../../../src/shared/telemetry/metrics/snapshot.js";

const family = (type: MetricFamily["type"], samples: MetricFamily["samples"], more = {}): MetricFamily => ({
  name: type,
  help: "h",
  type,
  samples,
  ...more,
});
const snapshot = (...families: MetricFamily[]): MetricSnapshot => ({ thread: "t", families });

test("counters and histograms are summed by series; gauges and summaries are left out", () => {
  const run = snapshot(
    family("counter", [
      { value: 1, labels: { a: "x", b: "y" } },
      { value: 5, labels: { a: "z" } },
    ]),
    family("histogram", [
      { value: 2, labels: { le: 1 }, metricName: "histogram_bucket" },
      { value: 0.5, labels: {}, metricName: "histogram_sum" },
    ]),
    family("gauge", [{ value: 9, labels: {} }]),
    family("summary", [{ value: 9, labels: {} }]),
  );
  const other = snapshot(family("counter", [{ value: 10, labels: { b: "y", a: "x" } }]));
  const first = addCounters(undefined, run);
  assert.deepEqual(
    first.families.map(({ name }) => name),
    ["counter", "histogram"],
  );
  const [counter, histogram] = addCounters(addCounters(first, other), run).families;
  assert.deepEqual(
    counter?.samples.map(({ value }) => value),
    [12, 10],
  );
  assert.deepEqual(
    histogram?.samples.map(({ value }) => value),
    [4, 1],
  );
});

test("native buckets of one width are summed; those of another stay apart", () => {
  const native = (schema: number, positive: [number, number][]) =>
    snapshot(family("histogram", [], { native: [{ labels: {}, schema, zeroCount: 1, positive, negative: [] }] }));
  const sum = addCounters(addCounters(native(3, [[1, 2]]), native(3, [[0, 1]])), native(2, [[1, 7]]));
  assert.deepEqual(
    sum.families[0]?.native?.map(({ schema, zeroCount, positive }) => [schema, zeroCount, positive]),
    [
      [
        3,
        2,
        [
          [0, 1],
          [1, 2],
        ],
      ],
      [2, 1, [[1, 7]]],
    ],
  );
});
