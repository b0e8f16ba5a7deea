// Pods of the API that stay Terminating: a deleted one that a finalizer holds back is listed and explained until the
// object is gone; one past its active deadline while its container still runs.

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

/** Waits until the command prints all of `words`. */
const prints = async (command: readonly string[], ...words: readonly RegExp[]): Promise<void> => {
  let seen = "";
  await waitFor(
    async () => {
      const { code, stdout, stderr } = await nodelet(cluster.node, ...command);
      seen = `${code}: ${stdout}${stderr}`.replace(/\s+/g, " ");
      return words.every((one) => one.test(seen));
    },
    { what: `nodelet ${command.join(" ")}: ${words.join(", ")}`, timeoutMs: PATIENCE_MS, lastSeen: () => seen },
  );
};
const explained = (...words: readonly RegExp[]): Promise<void> => prints(["why", "fin"], ...words);
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

test("a pod past its active deadline is Terminating in each command while its container runs", async () => {
  const { api } = cluster;
  const pod = boundPod("expired", "trap '' TERM; touch /tmp/deaf; while true; do sleep 1; done");
  const { containers, ...spec } = pod["spec"] as { containers: object[] };
  // Ready means that it ignores SIGTERM from now on.
  const readinessProbe = { exec: { command: ["test", "-e", "/tmp/deaf"] }, periodSeconds: 1 };
  const app = { ...containers[0], readinessProbe };
  await api.create("pods", { ...pod, spec: { ...spec, containers: [app], terminationGracePeriodSeconds: 120 } });
  await api.waitFor("pods", "default", "expired", isReady, { what: "expired Ready" });
  // However long its start took, the deadline comes after it.
  await api.patch("pods", "default", "expired", { spec: { activeDeadlineSeconds: 1 } }, { type: "merge" });
  await prints(["pods"], /^1: .*default expired 1\/1 Terminating/);
  await prints(
    ["why", "expired"],
    /^1: default\/expired is terminating pod: it is terminating \(DeadlineExceeded\)\. still running: app/,
  );
  await prints(["status"], /^1: .*default\/expired is Terminating/);
});
