// What pods and containers use, as a node with a real runtime shows it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { PodStats, Summary } from "../../src/workers/server/stats/summary/types.js";
import { startNode, type TestNode } from "../harness/node.js";
import { IDLE, manifest, NODE_NAME, shell, statusOf, waitForPod } from "../support/static-pods.js";

let node: TestNode;

before(async () => {
  node = await startNode();
  const busy = "i=0; while true; do i=$((i+1)); [ $((i % 20000)) -ne 0 ] || sleep 0.05; done";
  const limited = {
    ...shell("app", `echo some words; echo 1 > /written; ${busy}`),
    resources: { limits: { memory: "80M" } },
  };
  const volumes = { volumes: [{ name: "cache", emptyDir: {} }] };
  await node.writeManifest("used", manifest("used", [limited, shell("idle", IDLE)], { spec: volumes }));
  await waitForPod(
    node,
    "used",
    (pod) => ["app", "idle"].every((name) => statusOf(pod, name)?.state.running !== undefined),
    "running",
  );
});
after(() => node.stop());

async function get(path: string): Promise<{ status: number; type: string; text: string }> {
  const response = await fetch(`${node.kubelet.url}${path}`);
  return { status: response.status, type: response.headers.get("content-type") ?? "", text: await response.text() };
}

async function summary(query = ""): Promise<{ summary: Summary; pod: PodStats }> {
  const { status, text } = await get(`/stats/summary${query}`);
  assert.equal(status, 200, text);
  const parsed = JSON.parse(text) as Summary;
  const pod = parsed.pods.find(({ podRef }) => podRef.name.startsWith("used"));
  assert.ok(pod !== undefined, text);
  return { summary: parsed, pod };
}

test("the summary shows what node, pod and containers use", async () => {
  const { summary: first, pod } = await summary();
  console.log(JSON.stringify(first, undefined, 1));
  assert.equal(first.node.nodeName, NODE_NAME);
  assert.deepEqual(pod.containers.map(({ name }) => name).sort(), ["app", "idle"]);
});

test("the cadvisor page", async () => {
  const { text } = await get("/metrics/cadvisor");
  console.log(text);
});

test("the resource page", async () => {
  const { text, type } = await get("/metrics/resource");
  assert.equal(type, "text/plain; version=0.0.4; charset=utf-8");
  console.log(text);
});
