// The list of all pods of the node hangs, as one of thousands that have ended may take long. New pods start meanwhile,
// a pod that was deleted while the kubelet was down ends when the whole list has come, and nothing ends before.
// @promise Cluster: A new pod does not wait for the list of pods that have ended, however large it is.
// @with test/main/pods/sources/api-source.test.ts, test/hostile/large-pods.test.ts

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { waitFor } from "../harness/node.js";
import { boundPod, isReady } from "../support/cluster-node.js";
import { PATIENCE_MS, podIn, startFaultyCluster, type FaultyCluster } from "../support/faulty-cluster.js";
import { IDLE, RuntimeView } from "../support/static-pods.js";

const NAMES = ["runs", "goes"] as const;
let cluster: FaultyCluster;
let runtime: RuntimeView;
before(async () => {
  cluster = await startFaultyCluster();
  runtime = new RuntimeView(cluster.node.endpoint);
});
after(async () => {
  runtime.close();
  await cluster.stop();
});

async function becomesReady(name: string): Promise<void> {
  await cluster.api.create("pods", boundPod(name, IDLE));
  await cluster.api.waitFor("pods", "default", name, isReady, { what: `${name} Ready`, timeoutMs: PATIENCE_MS });
}

test("a new pod starts while the list of all pods hangs, and no pod ends before it has come", async () => {
  for (const name of NAMES) await becomesReady(name);
  await cluster.node.kill9();
  const all = /fieldSelector=spec\.nodeName%3D[^&%]*(&|$)/;
  const release = cluster.fixture.faults.hang({ resource: "pods", path: all });
  const uid = podIn(cluster.fixture, "goes")?.metadata.uid ?? "";
  cluster.fixture.store.remove("pods", "default", "goes");
  cluster.fixture.store.put("pods", { ...boundPod("new", IDLE), metadata: { name: "new" } });
  await cluster.node.restart();
  const ready = { what: "the new pod to be Ready", timeoutMs: PATIENCE_MS };
  await waitFor(() => Promise.resolve(isReady(podIn(cluster.fixture, "new"))), ready);
  assert.equal((await runtime.containers(uid)).length, 1, "it may only be missing in a part of the list");
  release();
  const gone = { what: "the deleted pod to end", timeoutMs: PATIENCE_MS };
  await waitFor(async () => (await runtime.containers(uid)).length === 0, gone);
  for (const name of ["new", "runs"]) assert.ok(isReady(podIn(cluster.fixture, name)), name);
});
