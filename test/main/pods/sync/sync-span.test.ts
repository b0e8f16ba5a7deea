// Spans of a pod's syncs as the pod worker begins them: upstream's names and attributes, one trace per sync.

import assert from "node:assert/strict";
import { test } from "node:test";
import { SpanStatusCode } from "@opentelemetry/api";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import { PodWorker } from "../../../../src/main/pods/sync/pod-worker.js";
import { later } from "../../../../src/shared/base/clock/moments.js";
import { traced } from "../../../../src/shared/telemetry/tracing/tracing.js";
import { pod } from "../../../support/pods.js";
import { hang, settle, SyncWorld } from "../../../support/sync-kit.js";
import { traceThis } from "../../../support/tracing-kit.js";

function build() {
  const world = new SyncWorld();
  const web = pod();
  const { uid } = web.metadata;
  return { world, web, worker: new PodWorker(uid, web, world.workerDeps(uid)) };
}

test("a new pod's start is one syncPod span of type create, and a later sync one of type sync", async (context) => {
  const { spans } = traceThis(context);
  const { world, worker, web } = build();
  worker.requestPass();
  await settle();
  assert.deepEqual(world.begunOf(web.metadata.uid), ["create-sandbox", "start-container app"], "more than one pass");
  worker.requestPass();
  await settle();
  const kept = await spans();
  const { uid, name, namespace } = web.metadata;
  assert.deepEqual(kept[0]?.attributes, {
    "k8s.pod.uid": uid,
    "k8s.pod": `${namespace}/${name}`,
    "k8s.pod.name": name,
    "k8s.namespace.name": namespace,
    "k8s.pod.update_type": "create",
  });
  const types = kept.map((span) => `${span.name} ${String(span.attributes["k8s.pod.update_type"])}`);
  assert.deepEqual(types, ["syncPod create", "syncPod sync"]);
});

test("a sync begins a trace of its own for every cause", async (context) => {
  const { spans } = traceThis(context);
  const { worker } = build();
  await traced(
    "another pod's sync",
    () => ({ parent: "none" }),
    () => {
      worker.requestPass();
      return settle();
    },
  );
  const syncs = (await spans()).filter(({ name }) => name === "syncPod");
  assert.ok(syncs.length > 0);
  for (const { parentSpanContext } of syncs) assert.equal(parentSpanContext, undefined);
});

test("a container that does not start fails the syncPod span", async (context) => {
  const { spans } = traceThis(context);
  const { world, worker } = build();
  world.script = (step) =>
    step.kind === "start-container"
      ? Promise.reject(new StartContainerError("ErrImagePull", "no such image"))
      : undefined;
  worker.requestPass();
  await settle();
  const failed = (await spans()).filter(({ status }) => status.code === SpanStatusCode.ERROR);
  assert.deepEqual(
    failed.map(({ name, status }) => [name, status.message]),
    [["syncPod", "container app: ErrImagePull: no such image"]],
  );
});

test("a sync that is cut off by the pod's end has ended when the worker stops", async (context) => {
  const { spans } = traceThis(context);
  const { world, worker } = build();
  world.script = (step, signal) => (step.kind === "create-sandbox" ? hang(signal) : undefined);
  worker.requestPass();
  await settle();
  await worker.stop();
  const [sync] = await spans();
  assert.deepEqual([sync?.name, sync?.status.code], ["syncPod", 2]);
});

test("the end of a pod is syncTerminatingPod while containers run, then syncTerminatedPod", async (context) => {
  const { spans } = traceThis(context);
  const { world, worker, web } = build();
  worker.requestPass();
  await settle();
  worker.terminate({ deadline: later(world.clock.steady(), 30_000), reason: "removed" });
  await settle();
  assert.equal(worker.state, "terminated");
  const ends = (await spans()).filter(({ name }) => name !== "syncPod");
  assert.deepEqual([...new Set(ends.map(({ name }) => name))], ["syncTerminatingPod", "syncTerminatedPod"]);
  for (const { attributes } of ends) assert.equal(attributes["k8s.pod.uid"], web.metadata.uid);
});
