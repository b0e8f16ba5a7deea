// Native histograms: buckets, their resolution, and Prometheus' protobuf format.
// @promise Server: A client that prefers Prometheus' protobuf gets it; with the gate NativeHistograms each histogram
//   of every thread also has native buckets, whose counts add up.
// @with test/integration/pod-server.test.ts

import { deepEqual, equal, ok } from "node:assert/strict";
import { before, describe, test } from "node:test";
import fc from "fast-check";
import { mergeNative } from "../../../../src/shared/telemetry/metrics/native.js";
import type { NativeSample } from "../../../../src/shared/telemetry/metrics/snapshot.js";
import { enableNativeHistograms, ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { exposition, prefersProtobuf, textContentType } from "../../../../src/workers/server/metrics/exposition.js";
import { readFamilies } from "../../../support/prometheus-protobuf.js";

const TEXT = "text/plain; version=0.0.4; charset=utf-8";
const PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

test("a registry without the gate counts no native buckets", async () => {
  const registry = new ThreadRegistry("t");
  registry.histogram("a_seconds", "a").observe(1);
  equal((await registry.exportSnapshot()).families[0]?.native, undefined);
});

describe("with the gate", () => {
  before(enableNativeHistograms);

  const observed = async (...values: number[]): Promise<NativeSample> => {
    const registry = new ThreadRegistry("t");
    const histogram = registry.histogram("a_seconds", "a");
    for (const value of values) histogram.observe(value);
    const [family] = (await registry.exportSnapshot()).families;
    return family?.native?.[0] ?? { labels: {}, schema: 3, zeroCount: 0, positive: [], negative: [] };
  };

  test("bounds of buckets are the powers of the eighth root of two, upper bounds included", async () => {
    deepEqual(await observed(1, 1.0001, 2, 0.5, 2 ** (1 / 8), 0, -1), {
      labels: {},
      schema: 3,
      zeroCount: 1,
      positive: [
        [0, 1],
        [1, 2],
        [8, 1],
        [-8, 1],
      ],
      negative: [[0, 1]],
    });
  });

  test("each value is in the bucket whose bounds contain it, and the counts add up (property)", async () => {
    const value = fc.double({ min: 1e-9, max: 1e9, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 400 }), async (values) => {
        const { schema, positive } = await observed(...values);
        ok(positive.length <= 160);
        equal(
          positive.reduce((sum, [, count]) => sum + count, 0),
          values.length,
        );
        const perPower = 2 ** schema;
        for (const [index, count] of positive) {
          const [low, high] = [2 ** ((index - 1) / perPower), 2 ** (index / perPower)];
          equal(values.filter((one) => one > low && one <= high).length, count);
        }
      }),
      { numRuns: 40 },
    );
  });

  test("a series with values all over the range halves its resolution instead of growing", async () => {
    const { schema, positive } = await observed(...Array.from({ length: 400 }, (_, i) => 1.25 ** (i - 200)));
    ok(schema < 3);
    ok(positive.length <= 160);
  });

  test("threads with different resolutions are added up in the lower one", () => {
    const fine = {
      labels: {},
      schema: 3,
      zeroCount: 1,
      positive: [
        [1, 2],
        [2, 3],
      ],
      negative: [],
    } satisfies NativeSample;
    const coarse = {
      labels: {},
      schema: 2,
      zeroCount: 0,
      positive: [[1, 10]],
      negative: [[4, 1]],
    } satisfies NativeSample;
    deepEqual(mergeNative([fine, coarse]), {
      labels: {},
      schema: 2,
      zeroCount: 1,
      positive: [[1, 15]],
      negative: [[4, 1]],
    });
  });

  test("a page in protobuf has classic and native buckets of all threads", async () => {
    const [one, two] = [new ThreadRegistry("one"), new ThreadRegistry("two")];
    for (const registry of [one, two]) {
      const histogram = registry.histogram("wait_seconds", "How long", ["kind"], [1, 5]);
      histogram.observe({ kind: "a" }, 0.5);
      histogram.observe({ kind: "a" }, 4);
    }
    two.histogram("wait_seconds", "How long", ["kind"], [1, 5]).observe({ kind: "b" }, 0.51);
    one.counter("done_total", "Done", ["x"]).inc({ x: "1" }, 7);
    one.gauge("level", "Level").set(-2.5);
    one.histogram("never_seconds", "Never", [], [1]);
    const snapshots = [structuredClone(await one.exportSnapshot()), structuredClone(await two.exportSnapshot())];
    const { body, contentType } = await exposition(snapshots, PROTOBUF);
    equal(contentType, `${PROTOBUF.replaceAll(";", "; ")}; escaping=underscores`);
    deepEqual(readFamilies(body), [
      { name: "done_total", help: "Done", type: 0, metrics: [{ labels: { x: "1" }, value: 7 }] },
      { name: "level", help: "Level", type: 1, metrics: [{ labels: {}, value: -2.5 }] },
      {
        ...{ name: "never_seconds", help: "Never", type: 4 },
        metrics: [{ labels: {}, count: 0, sum: 0, buckets: [[1, 0]], schema: 3, zeroCount: 0, positive: [] }],
      },
      {
        ...{ name: "wait_seconds", help: "How long", type: 4 },
        metrics: [
          {
            ...{ labels: { kind: "a" }, count: 4, sum: 9, zeroCount: 0, schema: 3 },
            ...{
              buckets: [
                [1, 2],
                [5, 4],
              ],
              positive: [
                [-8, 2],
                [16, 2],
              ],
            },
          },
          {
            ...{ labels: { kind: "b" }, count: 1, sum: 0.51, zeroCount: 0, schema: 3 },
            ...{
              buckets: [
                [1, 1],
                [5, 1],
              ],
              positive: [[-7, 1]],
            },
          },
        ],
      },
    ]);
    equal((await exposition(snapshots, undefined)).contentType, `${TEXT}; escaping=underscores`);
  });
});

test("a client gets protobuf only if it prefers delimited MetricFamily messages to text", () => {
  const rows: [string | undefined, boolean][] = [
    [undefined, false],
    ["", false],
    ["*/*", false],
    [PROTOBUF, true],
    ["application/vnd.google.protobuf", false],
    ["application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", false],
    // Prometheus 3 with native histograms, and without.
    [
      `${PROTOBUF};q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
      true,
    ],
    [
      `application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,${PROTOBUF};q=0.4,*/*;q=0.2`,
      false,
    ],
    [`${PROTOBUF};q=0,text/plain`, false],
    [`text/plain;q=0.5,${PROTOBUF};q=0.5`, false],
  ];
  for (const [accept, protobuf] of rows) equal(prefersProtobuf(accept), protobuf, accept);
});

test("formats behind thousands of others do not count: each page reads the header several times", () => {
  const protobuf =
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;escaping=dots";
  const others = "application/openmetrics-text;q=0.5,";
  equal(prefersProtobuf(others.repeat(50) + protobuf), true);
  equal(prefersProtobuf(others.repeat(3_000) + protobuf), false);
  ok(!textContentType(others.repeat(3_000) + protobuf).includes("dots"));
});

test("the content type names the escaping of the chosen format", () => {
  const rows: [accept: string | undefined, escaping: string][] = [
    [undefined, "underscores"],
    ["application/json;escaping=nonsense", "underscores"],
    ["application/openmetrics-text;version=1.0.0;escaping=allow-utf-8", "allow-utf-8"],
    ["text/plain;version=1.0.0;escaping=allow-utf-8", "allow-utf-8"],
    ["text/plain;version=0.0.4;q=0.5,application/openmetrics-text;escaping=dots;q=0.7", "dots"],
    ["text/plain;version=0.0.4;q=0.7,application/openmetrics-text;escaping=dots;q=0.5", "underscores"],
  ];
  for (const [accept, escaping] of rows) equal(textContentType(accept), `${TEXT}; escaping=${escaping}`, accept);
});
