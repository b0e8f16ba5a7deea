// The tracer without a collector: which spans are sampled, whose children they are, what happens if they cannot be
// sent.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ExportResultCode } from "@opentelemetry/core";
import { installTracer, traced, tracer } from "../../../../src/shared/telemetry/tracing/tracing.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { ALL, CALLER, SAMPLED, TRACE, traceThis, UNSAMPLED } from "../../../support/tracing-kit.js";

type Parent = "none" | { headers: Record<string, string> };

async function recorded(context: TestContext, samplingRatePerMillion: number, parent: Parent): Promise<number> {
  const { tracer: own, spans } = traceThis(context, { samplingRatePerMillion });
  own.start("work", { parent }).end();
  return (await spans()).length;
}

const root = { parent: "none" } as const;
const pause = async (): Promise<void> => {
  await turn();
};

test("the sampling rate decides only about spans without a caller", async (context) => {
  assert.equal(await recorded(context, 0, "none"), 0, "rate 0");
  assert.equal(await recorded(context, ALL, "none"), 1, "rate of a million");
  assert.equal(await recorded(context, 0, { headers: SAMPLED }), 1, "the caller samples");
  assert.equal(await recorded(context, ALL, { headers: UNSAMPLED }), 0, "the caller does not sample");
  assert.equal(await recorded(context, 0, { headers: {} }), 0, "rate 0, a request without a trace");
});

test("a rate of one in a hundred samples about one trace in a hundred", async (context) => {
  const { tracer: own, spans } = traceThis(context, { samplingRatePerMillion: ALL / 100 });
  for (let i = 0; i < 20_000; i++) own.start("work", root).end();
  const { length } = await spans();
  assert.ok(length > 100 && length < 350, `${length} of 20000`);
});

test("a span continues the trace of the headers, and passes it on with the baggage", async (context) => {
  const { tracer: own, spans } = traceThis(context);
  const span = own.start("work", { parent: { headers: { ...SAMPLED, baggage: "tenant=blue" } } });
  const { traceparent, baggage } = span.headers();
  span.end();
  const [kept] = await spans();
  assert.equal(kept?.parentSpanContext?.spanId, CALLER);
  assert.equal(traceparent, `00-${TRACE}-${kept.spanContext().spanId}-01`);
  assert.equal(baggage, "tenant=blue");
  assert.deepEqual(
    [kept.resource.attributes["service.name"], kept.resource.attributes["host.name"]],
    ["kubelet", "node-1"],
  );
});

test("a span that refers to its caller begins a trace of its own", async (context) => {
  const { tracer: own, spans } = traceThis(context);
  own.start("work", { link: { headers: SAMPLED } }).end();
  const [kept] = await spans();
  assert.notEqual(kept?.spanContext().traceId, TRACE);
  assert.deepEqual(
    kept?.links.map(({ context: { traceId, spanId } }) => [traceId, spanId]),
    [[TRACE, CALLER]],
  );
});

test("spans are children of the span whose action began them, across waits", async (context) => {
  const { spans } = traceThis(context);
  await traced(
    "outer",
    () => root,
    async () => {
      await turn();
      await Promise.all(["one", "two"].map((name) => traced(name, () => ({}), pause)));
    },
  );
  const kept = await spans();
  const outer = kept.find(({ name }) => name === "outer")?.spanContext();
  for (const name of ["one", "two"]) {
    const child = kept.find((span) => span.name === name);
    assert.equal(child?.parentSpanContext?.spanId, outer?.spanId, name);
  }
});

test("work that outlives its span begins its own traces", async (context) => {
  const { spans } = traceThis(context);
  let goOn: () => void = () => undefined;
  const awaited = new Promise<void>((resolve) => (goOn = resolve));
  let left = Promise.resolve();
  await traced(
    "sync",
    () => root,
    () => {
      left = awaited.then(() => traced("a loop it left", () => ({}), pause));
      return Promise.resolve();
    },
  );
  goOn();
  await left;
  const [sync, loop] = await spans();
  assert.equal(loop?.name, "a loop it left");
  assert.equal(loop.parentSpanContext, undefined);
  assert.notEqual(loop.spanContext().traceId, sync?.spanContext().traceId);
});

test("a failed action fails its span, and its error is unchanged", async (context) => {
  const { spans } = traceThis(context);
  const error = new Error("no space left");
  await assert.rejects(
    traced(
      "work",
      () => root,
      () => Promise.reject(error),
    ),
    (thrown) => thrown === error,
  );
  const [kept] = await spans();
  assert.deepEqual([kept?.status.code, kept?.status.message], [2, "no space left"]);
  assert.equal(kept?.events[0]?.name, "exception");
});

test("without a tracer the action runs and its settings are not made", async () => {
  installTracer(undefined);
  const value = await traced(
    "work",
    () => assert.fail("made"),
    (span) => Promise.resolve(span === undefined ? "ran" : "traced"),
  );
  assert.equal(value, "ran");
  assert.equal(tracer(), undefined);
});

test("beyond 2048 spans that wait for the collector further ones are dropped, with a warning in the log", async (context) => {
  const taken: number[] = [];
  const answers: (() => void)[] = [];
  const { tracer: own, lines } = traceThis(context, {
    exporter: {
      export: (spans, done) => {
        taken.push(spans.length);
        answers.push(() => done({ code: ExportResultCode.SUCCESS }));
      },
      shutdown: () => Promise.resolve(),
    },
  });
  for (let i = 0; i < 5000; i++) own.start("work", root).end();
  assert.deepEqual(taken, [64], "one batch is under way, and the collector does not respond");
  assert.deepEqual(lines, []);
  answers[0]?.();
  while (taken.length < 2) await turn();
  own.start("work", root).end();
  assert.match(lines.join("\n"), /Dropped 2888 spans because maxQueueSize reached/);
  await own.stop();
  assert.equal(
    taken.length,
    Math.ceil((64 + 2048 + 1) / 64),
    "batches that wait for the collector do not outlive the tracer",
  );
});

test("the end waits a second for a collector that does not respond, and no longer", async (context) => {
  const clock = new SteppedClock();
  const { tracer: own } = traceThis(context, {
    clock,
    exporter: { export: () => undefined, shutdown: () => Promise.resolve() },
  });
  own.start("work", root).end();
  let ended = false;
  const stopped = own.stop().then(() => (ended = true));
  clock.step(999);
  await turn();
  assert.equal(ended, false);
  clock.step(1);
  await stopped;
  assert.equal(clock.pending, 0);
});

test("failed exports are one line a minute, with their number", async (context) => {
  const clock = new SteppedClock();
  const { tracer: own, lines } = traceThis(context, {
    clock,
    exporter: {
      export: (_spans, done) => done({ code: ExportResultCode.FAILED, error: new Error("connection refused") }),
      shutdown: () => Promise.resolve(),
    },
  });
  const fail = async (): Promise<void> => {
    for (let i = 0; i < 64; i++) own.start("work", root).end();
    await turn();
  };
  await fail();
  await fail();
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /traces are lost: the export to 127\.0\.0\.1:1 failed: .*connection refused/);
  clock.step(60_000);
  await fail();
  assert.equal(lines.length, 2);
});
