// The node in a cluster, on the real runtime. It registers Ready with the machine's capacity. Its heartbeat continues
// after a kill of the kubelet without a change of Ready. If main is stuck forever, the heartbeat expires, with the
// reason in the status.
// @headline Cluster | A stuck kubelet loses its lease, a restarted one stays Ready. | 20 s; always
// @promise Cluster: The lease is renewed only while main and pleg respond; the Ready condition names a stuck thread.
// @with test/workers/node-status
// @promise Cluster: A restart of the kubelet does not turn a node NotReady.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import type { Lease } from "../../src/shared/kubernetes/api/gen/coordination.js";
import type { Node, NodeCondition } from "../../src/shared/kubernetes/api/node.js";
import { FakeApi } from "../fake-api/fake-api.js";
import { RUNTIME_NAME, startNode, type TestNode } from "../harness/node.js";
import { until } from "../support/sources-kit.js";

const PATIENCE_MS = 60_000;
/** Short, so that what takes shares of it can be waited for. Main may be busy for half of it on a slow machine. */
const LEASE_SECONDS = 20;

describe("a node's heartbeat", () => {
  let api: FakeApi;
  let agent: TestNode;
  const node = (): Node | undefined => api.store.get("nodes", "", "testnode");
  const lease = (): Lease | undefined => api.store.get("leases", "kube-node-lease", "testnode");
  const ready = (): NodeCondition | undefined => node()?.status?.conditions?.find(({ type }) => type === "Ready");
  const isReady = (): boolean => ready()?.status === "True";

  before(async () => {
    api = await FakeApi.start();
    agent = await startNode({
      config: { nodeLeaseDurationSeconds: LEASE_SECONDS, nodeStatusUpdateFrequency: "1s" },
      flags: [
        `--kubeconfig=${await api.kubeconfig({ name: "system:node:testnode", groups: ["system:nodes"] })}`,
        "--node-labels=example.com/shelf=7",
      ],
      env: { NODELET_FAULTS: "1" },
    });
  });
  after(async () => {
    await agent.stop();
    await api[Symbol.asyncDispose]();
  });

  test("the node is registered Ready, with the data of the machine and its runtime", async () => {
    await until("the node to be Ready", isReady, PATIENCE_MS);
    await until("its images", () => (node()?.status?.images?.length ?? 0) > 0, PATIENCE_MS);
    const { metadata, status } = node() ?? assert.fail("it is there");
    const { nodeInfo: info, capacity = {}, addresses = [] } = status ?? assert.fail("it has a status");
    assert.ok(info !== undefined);
    assert.equal(metadata.labels?.["example.com/shelf"], "7");
    assert.match(info.containerRuntimeVersion, new RegExp(`^${RUNTIME_NAME}://\\d`));
    assert.equal(info.kernelVersion, release());
    assert.equal(info.bootID.length, 36);
    assert.deepEqual(
      Object.keys(capacity)
        .filter((name) => !name.startsWith("hugepages-"))
        .sort(),
      ["cpu", "ephemeral-storage", "memory", "pods"],
    );
    assert.deepEqual(
      addresses.map(({ type }) => type),
      ["InternalIP", "Hostname"],
    );
    await until("the lease", () => lease() !== undefined, PATIENCE_MS);
    assert.equal(lease()?.spec?.leaseDurationSeconds, LEASE_SECONDS);
  });

  test("the kubelet is killed and restarted: the node never turns NotReady, and its lease is renewed", async () => {
    const flips: unknown[] = [];
    const watch = systemClock.every(5, () => {
      if (!isReady()) flips.push(ready());
    });
    await agent.kill9();
    const renewed = lease()?.spec?.renewTime;
    const reports = api.calls.count({ verb: "patch", resource: "nodes" });
    await agent.restart();
    await until("the lease to be renewed", () => lease()?.spec?.renewTime !== renewed, PATIENCE_MS);
    await until("its first report", () => api.calls.count({ verb: "patch", resource: "nodes" }) > reports, PATIENCE_MS);
    watch.cancel();
    assert.deepEqual(flips, []);
  });

  test("main is stuck for good: NotReady by name, and the lease runs out", async () => {
    await writeFile(join(agent.kubelet.rootDir, "nodelet", "fault"), "hang main");
    process.kill(agent.kubelet.pid ?? assert.fail("the agent runs"), "SIGUSR2");
    await until("the node to be NotReady", () => ready()?.status === "False", PATIENCE_MS);
    assert.match(
      ready()?.message ?? "",
      /main is not healthy: its thread was last seen active at \S+; threshold is 10s/,
    );
    const turns = async (): Promise<unknown[]> => {
      const before = lease()?.spec?.renewTime;
      await systemClock.sleep(LEASE_SECONDS * 500);
      return [before, lease()?.spec?.renewTime];
    };
    let [before, after] = await turns();
    // One renewal may have been under way.
    if (after !== before) [before, after] = await turns();
    assert.equal(after, before, "two of its turns have passed");
    await agent.kill9();
  });
});
