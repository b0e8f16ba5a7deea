// `nodelet restart` of a static pod on a node of a cluster: its mirror pod shows the new containers under the same UID;
// a pod of the API is refused.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { waitFor } from "../harness/node.js";
import { boundPod, isReady, NODE_NAME, startClusterNode, statusOf, type ClusterNode } from "../support/cluster-node.js";
import { nodelet } from "../support/nodelet-command.js";
import { IDLE, manifest, PATIENCE_MS, shell, waitForPod } from "../support/static-pods.js";

let cluster: ClusterNode;
before(async () => {
  cluster = await startClusterNode();
});
after(() => cluster.stop());

test("a static pod starts again under its UID, and the API sees its new container", async () => {
  const { api, node } = cluster;
  const mirror = `static-${NODE_NAME}`;
  const containerOf = async (): Promise<string | undefined> => {
    const pod = await api.find("pods", "default", mirror);
    return isReady(pod) ? statusOf(pod).containerStatuses?.[0]?.containerID : undefined;
  };
  await node.writeManifest("static", manifest("static", [shell("app", IDLE)]));
  const first = await waitFor(containerOf, { what: "the mirror pod to be Ready", timeoutMs: PATIENCE_MS });
  const [one] = (await node.pods()).filter(({ metadata }) => metadata.name === mirror);
  const { code, stdout, stderr } = await nodelet(node, "restart", "static");
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "pod/static restarted\n", stderr: "" });
  await waitFor(
    async () => {
      const seen = await containerOf();
      return seen !== undefined && seen !== first;
    },
    { what: "the mirror pod to be Ready with another container", timeoutMs: PATIENCE_MS },
  );
  const again = await waitForPod(node, "static", ({ status }) => status?.phase === "Running", "running");
  assert.equal(again.metadata.uid, one?.metadata.uid);
  await node.removeManifest("static");
});

test("a pod of the API is refused, with what restarts it", async () => {
  const { api, node } = cluster;
  await api.create("pods", boundPod("of-api", IDLE));
  await api.waitFor("pods", "default", "of-api", isReady, { what: "of-api Ready" });
  const { code, stderr } = await nodelet(node, "restart", "of-api");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /it comes from the API server: its controller makes a new one after kubectl delete pod -n default of-api/,
  );
  await api.delete("pods", "default", "of-api", { gracePeriodSeconds: 0 });
});
