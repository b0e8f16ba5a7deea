// The node-status thread as main runs it, in a real thread, with a real connection to an API server. It registers the
// node Ready, renews the lease, and sends changes to main. It continues after a restart and while main is busy, and
// reports it when main is stuck.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { NodeStatusThread } from "../../../src/main/threads/node-status-thread.js";
import { spawnWorkerThread } from "../../../src/main/threads/spawn-worker.js";
import { ThreadContext } from "../../../src/main/threads/thread-context.js";
import { systemClock, type Clock } from "../../../src/shared/base/clock/clock.js";
import { BoardWriter } from "../../../src/shared/base/queue/board.js";
import type { NodeStatusInit, SeenNode } from "../../../src/shared/contracts/node-status.js";
import type { Lease } from "../../../src/shared/kubernetes/api/gen/coordination.js";
import type { Node } from "../../../src/shared/kubernetes/api/node.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { threadMetrics } from "../../../src/shared/telemetry/metrics/threads.js";
import { keepStamping } from "../../../src/shared/thread/stamper.js";
import { waitFor } from "../../../tools/standalone/wait.js";
import { FakeApi } from "../../fake-api/fake-api.js";
import { keptLog, until } from "../../support/sources-kit.js";
import { FACTS, INIT } from "../../workers/node-status/node-status-kit.js";

const PATIENCE_MS = 60_000;

async function build(t: TestContext, init: Partial<NodeStatusInit> = {}) {
  const api = await FakeApi.start();
  t.after(() => api[Symbol.asyncDispose]());
  const { log } = keptLog();
  const main = { stuck: false };
  const context = new ThreadContext({
    clock: clockOf(main),
    log,
    metrics: threadMetrics(new ThreadRegistry("main")),
    spawn: spawnWorkerThread,
    onGiveUp: (error) => {
      throw error;
    },
  });
  // pleg is played by the test.
  const pleg = new BoardWriter(context.board, "pleg", systemClock);
  pleg.setState("running");
  pleg.worked();
  t.after(keepStamping(pleg, systemClock));
  const nodes: (SeenNode | undefined)[] = [];
  const events: string[] = [];
  const thread = new NodeStatusThread({
    context,
    init: {
      ...INIT,
      api: {
        kubeconfig: await api.kubeconfig({ name: "system:node:n1", groups: ["system:nodes"] }),
        renewedCertificate: "",
      },
      startedAtMs: systemClock.now(),
      ...init,
    },
    upcalls: {
      onNode: (node) => void nodes.push(node),
      onPodCIDR: () => Promise.resolve(),
      serverReturned: () => undefined,
      onConfigSource: () => undefined,
      event: (_type, reason) => void events.push(reason),
    },
    facts: () => FACTS,
    log,
  });
  t.after(() => thread.stop());
  await thread.thread.start();
  const node = (): Node | undefined => api.store.get("nodes", "", "n1");
  const lease = (): Lease | undefined => api.store.get("leases", "kube-node-lease", "n1");
  const ready = () => node()?.status?.conditions?.find(({ type }) => type === "Ready");
  return { api, thread, main, nodes, events, node, lease, ready };
}

/** A main whose event loop can stop turning, while the API server beside it goes on. */
function clockOf(main: { stuck: boolean }): Clock {
  return {
    ...systemClock,
    every: (ms, fn) =>
      systemClock.every(ms, () => {
        if (!main.stuck) fn();
      }),
  };
}

test("it registers the node Ready with its lease; a restarted thread continues without a change of Ready", async (t) => {
  const { api, thread, nodes, events, node, lease, ready } = await build(t);
  await until("the node to be Ready", () => ready()?.status === "True", PATIENCE_MS);
  await until("the lease", () => lease() !== undefined, PATIENCE_MS);
  assert.equal(lease()?.metadata.ownerReferences?.[0]?.uid, node()?.metadata.uid);
  assert.equal(node()?.status?.nodeInfo?.containerRuntimeVersion, "containerd://1.6.20");
  await until("main to be told", () => nodes.length > 0, PATIENCE_MS);
  const { families } = await thread.thread.call.metrics();
  assert.ok(families.some(({ name }) => name === "kubelet_node_startup_duration_seconds"));

  const before = lease()?.spec?.renewTime;
  await thread.thread.terminate();
  await until("the lease to be renewed by the next thread", () => lease()?.spec?.renewTime !== before, PATIENCE_MS);
  await until("its first report", () => nodes.length > 1, PATIENCE_MS);
  assert.ok(!events.includes("NodeNotReady"));
  assert.equal((await thread.thread.call.readNode()).metadata.uid, node()?.metadata.uid);
  assert.equal(api.calls.count({ verb: "create", resource: "nodes" }), 2, "the second found it there");
});

test("main is stuck: the node turns NotReady by name and its lease runs out; both come back", async (t) => {
  // Limits follow the lease: main may be silent for a second.
  const { main, lease, ready } = await build(t, { nodeLeaseDurationSeconds: 2 });
  await until("the node to be Ready", () => ready()?.status === "True", PATIENCE_MS);
  await until("the lease", () => lease() !== undefined, PATIENCE_MS);
  main.stuck = true;
  await until("the node to be NotReady", () => ready()?.status === "False", PATIENCE_MS);
  assert.match(ready()?.message ?? "", /^main is not healthy: its thread was last seen active at .*; threshold is 1s$/);
  // One renewal may have been under way. Then two turns of the lease pass without one.
  let renewed: string | null | undefined;
  await waitFor(
    async () => {
      renewed = lease()?.spec?.renewTime;
      await systemClock.sleep(1000);
      return lease()?.spec?.renewTime === renewed;
    },
    { what: "the renewals to stop", timeoutMs: PATIENCE_MS },
  );
  main.stuck = false;
  await until("the lease to be renewed", () => lease()?.spec?.renewTime !== renewed, PATIENCE_MS);
  await until("the node to be Ready again", () => ready()?.status === "True", PATIENCE_MS);
});

test("the API server is unreachable for a while: the thread keeps running, and sends pending reports on its return", async (t) => {
  const { api, thread, lease, ready, node } = await build(t, { nodeLeaseDurationSeconds: 4 });
  await until("the node to be Ready", () => ready()?.status === "True", PATIENCE_MS);
  await until("the lease", () => lease() !== undefined, PATIENCE_MS);
  await api.stop();
  thread.setFacts({ ...FACTS, volumesInUse: ["kubernetes.io/csi/d^v"] });
  await systemClock.sleep(500);
  const before = lease()?.spec?.renewTime;
  await api.restart();
  await until("the lease to be renewed", () => lease()?.spec?.renewTime !== before, PATIENCE_MS);
  await until("the status", () => node()?.status?.volumesInUse?.length === 1, PATIENCE_MS);
  assert.equal(thread.thread.generation, 1);
});
