// Traces of a whole kubelet on a real runtime. The collector gets the spans of a pod's life and of a request. The
// runtime gets the context with each call. A collector that is unreachable or hangs delays no pod.
// @promise Server: A pod's start is one trace: syncPod and its CRI calls, whose context the runtime gets; a request's
//   span continues its caller's trace; a collector that is unreachable or hangs delays nothing.
// @with test/shared/telemetry/tracing, test/main/pods/sync/sync-span.test.ts,
//   test/workers/server/http/request-span.test.ts

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { startNode, waitFor, type NodeOptions, type PodView, type TestNode } from "../harness/node.js";
import { freePort } from "../support/free-port.js";
import { LyingRuntime } from "../support/lying-runtime.js";
import { OtlpCollector, type SeenSpan } from "../support/otlp-collector.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";
import { IDLE, manifest, NODE_NAME, PATIENCE_MS, shell, statusOf, waitForPod } from "../support/static-pods.js";
import { ALL, CALLER, SAMPLED, TRACE } from "../support/tracing-kit.js";

const RUNTIME = "runtime.v1.RuntimeService";
const POD = `web-${NODE_NAME}`;
const isRunning = (pod: PodView): boolean => statusOf(pod, "app")?.state.running !== undefined;

async function collectorOf(context: TestContext): Promise<{ collector: OtlpCollector; target: string }> {
  const started = await OtlpCollector.start();
  context.after(() => started.collector.stop());
  return started;
}

async function traced(
  context: TestContext,
  tracing: Record<string, unknown>,
  options: NodeOptions = {},
): Promise<TestNode> {
  const node = await startNode({ ...options, config: { ...options.config, tracing } });
  context.after(() => node.stop());
  return node;
}

function seen(collector: OtlpCollector, what: string, find: (span: SeenSpan) => boolean): Promise<SeenSpan> {
  return waitFor(() => collector.spans.find(find), {
    what,
    timeoutMs: PATIENCE_MS,
    lastSeen: () => [...new Set(collector.spans.map(({ name }) => name))].join(),
  });
}

const isOf =
  (name: string, parent: SeenSpan) =>
  (span: SeenSpan): boolean =>
    span.name === name && span.parentId === parent.spanId && span.traceId === parent.traceId;

/** Keeps the spans of a pod's start for the picture of docs/tracing.md, if NODELET_SPANS names a file. */
async function drawn(collector: OtlpCollector, sync: SeenSpan): Promise<void> {
  const file = process.env["NODELET_SPANS"];
  if (file === undefined) return;
  const ms = (nanos: bigint): number => Math.round(Number(nanos) / 1e5) / 10;
  const spans = collector.spans
    .filter((span) => span === sync || (span.traceId === sync.traceId && span.parentId === sync.spanId))
    .sort((a, b) => Number(a.startNanos - b.startNanos))
    .map(({ name, startNanos, endNanos }) => ({
      name: name.replace("runtime.v1.", ""),
      startMs: ms(startNanos - sync.startNanos),
      durationMs: ms(endNanos - startNanos),
    }));
  await writeFile(file, `${JSON.stringify(spans, undefined, 2)}\n`);
}

test("a pod's start, a request and the pod's end are traces, and the runtime gets the context of each call", async (context) => {
  const { collector, target } = await collectorOf(context);
  const socket = `unix://${join(process.env["NODELET_TEST_DIR"] ?? "", "traced.sock")}`;
  const options = { secure: true, start: false, config: { containerRuntimeEndpoint: socket } };
  const node = await traced(context, { endpoint: target, samplingRatePerMillion: ALL }, options);
  const proxy = await LyingRuntime.start(socket, node.endpoint);
  context.after(() => proxy.stop());
  await node.restart();
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
  await waitForPod(node, "web", isRunning, "running");

  const sync = await seen(
    collector,
    "the span of the pod's start",
    ({ name, attributes }) => name === "syncPod" && attributes["k8s.pod.update_type"] === "create",
  );
  const [pod] = await node.pods();
  assert.equal(sync.parentId, "");
  assert.deepEqual(sync.attributes, {
    "k8s.pod.uid": pod?.metadata.uid,
    "k8s.pod": `default/${POD}`,
    "k8s.pod.name": POD,
    "k8s.pod.update_type": "create",
    "k8s.namespace.name": "default",
  });
  assert.deepEqual(sync.resource, { "service.name": "kubelet", "host.name": NODE_NAME });
  for (const verb of ["RunPodSandbox", "CreateContainer", "StartContainer"]) {
    const call = await seen(collector, `${verb} in the pod's start`, isOf(`${RUNTIME}/${verb}`, sync));
    assert.equal(call.attributes["rpc.response.status_code"], "OK");
    assert.ok(sync.startNanos <= call.startNanos && call.endNanos <= sync.endNanos, `${verb} is within the sync`);
    const method = `${verb.slice(0, 1).toLowerCase()}${verb.slice(1)}`;
    const sent = proxy.traces.filter((trace) => trace.method === method).map(({ traceparent }) => traceparent);
    assert.deepEqual(sent, [`00-${call.traceId}-${call.spanId}-01`], `what the runtime got with ${verb}`);
  }
  await drawn(collector, sync);

  await waitSecure(node);
  const answer = await secureAsk(node, `/run/default/${POD}/app?cmd=true`, "POST", SAMPLED);
  assert.equal(answer.status, 200);
  const request = await seen(collector, "the span of the request", ({ parentId }) => parentId === CALLER);
  assert.equal(request.traceId, TRACE);
  assert.equal(request.name, "/run/{namespace}/{pod}/{container}");
  await seen(collector, "the command in the request's trace", isOf(`${RUNTIME}/ExecSync`, request));

  await node.removeManifest("web");
  await node.waitFor((pods) => pods.length === 0, { what: "the pod to end" });
  const end = await seen(collector, "the span of the pod's stop", ({ name }) => name === "syncTerminatingPod");
  await seen(collector, "StopContainer in the pod's stop", isOf(`${RUNTIME}/StopContainer`, end));
  await seen(collector, "the span of the removal", ({ name }) => name === "syncTerminatedPod");
  await seen(collector, "a round of garbage collection", ({ name }) => name === "Containers/GarbageCollect");
});

test("without a sampling rate a request with a sampled trace is traced, and nothing else", async (context) => {
  const { collector, target } = await collectorOf(context);
  const node = await traced(context, { endpoint: target }, { secure: true });
  await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
  await waitForPod(node, "web", isRunning, "running");
  await waitSecure(node);
  await secureAsk(node, "/pods", "GET", SAMPLED);
  await seen(collector, "the span of the request", ({ name }) => name === "/pods");
  await node.stop();
  assert.deepEqual(
    collector.spans.map(({ name, traceId, parentId }) => [name, traceId, parentId]),
    [["/pods", TRACE, CALLER]],
  );
});

for (const [what, hangs] of [
  ["is not there", false],
  ["takes spans and never answers", true],
] as const) {
  test(`a pod starts and the kubelet ends while the collector ${what}`, async (context) => {
    const { collector, target } = await collectorOf(context);
    collector.hang();
    const endpoint = hangs ? target : `127.0.0.1:${await freePort()}`;
    const node = await traced(context, { endpoint, samplingRatePerMillion: ALL });
    await node.writeManifest("web", manifest("web", [shell("app", IDLE)]));
    await waitForPod(node, "web", isRunning, "running");
    if (hangs) await seen(collector, "any span", () => true);
    else {
      await waitFor(async () => (await readFile(node.kubelet.log, "utf8")).includes("traces are lost: the export to"), {
        what: "the log to say that traces are lost",
        timeoutMs: PATIENCE_MS,
      });
    }
    await node.kubelet.end("SIGTERM");
    assert.equal(node.kubelet.exitCode, 0);
  });
}
