// Errors in handlers that only a node of a cluster has, beside a pod that runs.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isHealthy } from "../../tools/standalone/pods.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { boundPod, isReady, startClusterNode, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { PATIENCE_MS } from "../support/fault-node.js";
import { throwInHandler } from "../support/fault-orders.js";
import { IDLE } from "../support/static-pods.js";

describe("an error in a handler of a cluster's node", () => {
  let cluster: ClusterNode;
  let made = 0;

  before(async () => {
    cluster = await startClusterNode({ env: { NODELET_FAULTS: "1" } });
    await makeReady("beside");
  });
  after(() => cluster.stop());

  async function makeReady(name: string): Promise<void> {
    const { api } = cluster;
    await api.create("pods", boundPod(name, IDLE));
    await api.waitFor("pods", "default", name, isReady, { what: `${name} to be Ready`, timeoutMs: PATIENCE_MS });
  }

  /** A pod comes and goes, which the kubelet knows from its watch alone. */
  async function shortPod(): Promise<void> {
    const { api } = cluster;
    const name = `short-${made++}`;
    await makeReady(name);
    await api.delete("pods", "default", name);
    const isGone = (pod: unknown): boolean => pod === undefined;
    await api.waitFor("pods", "default", name, isGone, { what: `${name} to be removed`, timeoutMs: PATIENCE_MS });
  }

  test("main: api-watch: no thread ends", { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
    const { node, api } = cluster;
    const container = async (): Promise<string> => {
      const [status] = statusOf(await api.get("pods", "default", "beside")).containerStatuses ?? [];
      return `${status?.containerID ?? ""} ${status?.restartCount ?? ""}`;
    };
    const [calm, pid] = [await container(), node.kubelet.pid];
    await throwInHandler(node, { point: "api-watch", thread: "main", exercise: shortPod });
    assert.equal(await container(), calm);
    assert.equal(node.kubelet.pid, pid);
    assert.ok(await isHealthy(node.kubelet.healthzUrl));
  });
});
