// A deleted pod that a finalizer holds back in the API: it stays listed and explained until the object is gone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { waitFor } from "../harness/node.js";
import { boundPod, isReady, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { nodelet } from "../support/nodelet-command.js";
import { IDLE, PATIENCE_MS } from "../support/static-pods.js";

const FINALIZERS = ["example.com/backup", "batch.kubernetes.io/job-tracking"];
let cluster: ClusterNode;

before(async () => {
  cluster = await startClusterNode({});
});
after(() => cluster.stop());

const explained = async (...words: readonly RegExp[]): Promise<void> => {
  let seen = "";
  await waitFor(
    async () => {
      const { code, stdout, stderr } = await nodelet(cluster.node, "why", "fin");
      seen = `${code}: ${stdout}${stderr}`.replace(/\s+/g, " ");
      return words.every((one) => one.test(seen));
    },
    { what: `nodelet why fin: ${words.join(", ")}`, timeoutMs: PATIENCE_MS, lastSeen: () => seen },
  );
};
const HELD = [
  /^1: default\/fin is terminating/,
  /its containers have ended and nothing of it is left on this node\. Its finalizers hold the object back in the API until they are removed: example\.com\/backup, batch\.kubernetes\.io\/job-tracking/,
  /since \d{4}-/,
  /example\.com\/backup: the controller that set it, of example\.com must remove it/,
  /job-tracking: the Job controller in kube-controller-manager must remove it/,
  /kubectl patch pod fin -n default --type merge/,
];

test("a pod held by finalizers is listed and explained, after a restart too, until they are removed", async () => {
  const { api, node } = cluster;
  const leave = (finalizers: readonly string[]): Promise<unknown> =>
    api.patch("pods", "default", "fin", { metadata: { finalizers } }, { type: "merge" });
  const pod = boundPod("fin", IDLE);
  await api.create("pods", { ...pod, metadata: { name: "fin", namespace: "default", finalizers: FINALIZERS } });
  await api.waitFor("pods", "default", "fin", isReady, { what: "fin Ready" });
  await api.delete("pods", "default", "fin");
  await explained(...HELD);
  const pods = await nodelet(node, "pods");
  assert.match(pods.stdout, /^default +fin +0\/1 +Terminating/m);
  assert.equal(pods.code, 1);
  const status = await nodelet(node, "status");
  assert.match(status.stdout, /default\/fin is Terminating: nodelet why default\/fin/);

  await node.restart();
  await explained(...HELD);

  await leave(FINALIZERS.slice(0, 1));
  await explained(/Its finalizer holds the object back in the API until it is removed: example\.com\/backup for /);
  await leave([]);
  await node.waitFor((all) => all.every(({ metadata }) => metadata.name !== "fin"), { what: "fin to be gone" });
  await explained(/^1: nodelet: this node has no pod fin/);
});
