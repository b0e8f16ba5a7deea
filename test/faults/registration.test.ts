// Registration by a kubelet that may not create its Node. It takes over an existing one, except with the gate
// KubeletRegistrationGetOnExistsOnly.
// @promise Cluster: A kubelet that may not create its Node takes over an existing one, except with the gate
//   KubeletRegistrationGetOnExistsOnly.

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitFor } from "../harness/node.js";
import { NODE_NAME } from "../support/cluster-node.js";
import { agentLog } from "../support/fault-node.js";
import { AGENT, isNodeReady, nodeKubeconfig, PATIENCE_MS, startFaultyCluster } from "../support/faulty-cluster.js";

for (const on of [false, true]) {
  test(`KubeletRegistrationGetOnExistsOnly=${on}: a Node that may not be created is ${on ? "left alone" : "taken over"}`, async (t) => {
    let allow = (): void => undefined;
    const cluster = await startFaultyCluster({
      node: { config: { featureGates: { KubeletRegistrationGetOnExistsOnly: on } } },
      join: async (fixture) => {
        fixture.store.put("nodes", { metadata: { name: NODE_NAME } });
        allow = fixture.faults.fail({ verb: "create", resource: "nodes", ...AGENT }, { code: 403 });
        return [`--kubeconfig=${await nodeKubeconfig(fixture)}`];
      },
    });
    t.after(() => cluster.stop());
    if (on) {
      const refused = async (): Promise<boolean> =>
        (await agentLog(cluster.node)).some(({ msg }) => /cannot register node testnode; trying again/.test(msg));
      await waitFor(refused, { what: "a failed registration", timeoutMs: PATIENCE_MS });
      assert.ok(!isNodeReady(cluster.fixture));
      allow();
    }
    await waitFor(() => isNodeReady(cluster.fixture), { what: "the node to be Ready", timeoutMs: PATIENCE_MS });
  });
}
