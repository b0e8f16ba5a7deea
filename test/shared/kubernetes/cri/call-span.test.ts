// Spans of CRI calls, and the trace context that the runtime gets with each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { traced } from "../../../../src/shared/telemetry/tracing/tracing.js";
import { traceThis } from "../../../support/tracing-kit.js";
import { collect, pair, podConfig } from "./support.js";

test("a call is a span below its caller's, and the runtime gets its context", async (context) => {
  const { fake, client } = await pair(context);
  const { spans } = traceThis(context);
  await traced(
    "syncPod",
    () => ({ parent: "none" }),
    () => client.runPodSandbox({ config: podConfig("web") }),
  );
  const [call, sync] = await spans();
  assert.equal(call?.name, "runtime.v1.RuntimeService/RunPodSandbox");
  assert.equal(call.parentSpanContext?.spanId, sync?.spanContext().spanId);
  assert.deepEqual(call.attributes, {
    "rpc.method": "runtime.v1.RuntimeService/RunPodSandbox",
    "rpc.system.name": "grpc",
    "rpc.response.status_code": "OK",
  });
  const { traceId, spanId } = call.spanContext();
  assert.equal(fake.calls.at(-1)?.traceparent, `00-${traceId}-${spanId}-01`);
});

test("a failed call fails its span with the runtime's code", async (context) => {
  const { fake, client } = await pair(context);
  const { spans } = traceThis(context);
  fake.failpoint("RunPodSandbox", "1*error(UNKNOWN: no network)");
  await assert.rejects(client.runPodSandbox({ config: podConfig("web") }));
  const [call] = await spans();
  assert.equal(call?.attributes["rpc.response.status_code"], "UNKNOWN");
  assert.equal(call.status.code, 2);
  assert.match(call.status.message ?? "", /no network/);
});

test("a stream is a span until it ends", async (context) => {
  const { fake, client } = await pair(context, { listStreams: true });
  const { spans } = traceThis(context);
  await collect(client.streamContainers({}));
  const [call] = await spans();
  assert.equal(call?.name, "runtime.v1.RuntimeService/StreamContainers");
  assert.ok(fake.calls.at(-1)?.traceparent?.includes(call.spanContext().traceId));
});

test("without tracing the runtime gets no trace context", async (context) => {
  const { fake, client } = await pair(context);
  await client.version({});
  assert.equal(fake.calls.at(-1)?.verb, "Version");
  assert.equal(fake.calls.at(-1)?.traceparent, undefined);
});
