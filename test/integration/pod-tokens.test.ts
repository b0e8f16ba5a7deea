// Service account tokens of pods on the whole kubelet: how many the API server issues.
// @promise Cluster: A pod that terminates costs no token request, also under a kubelet that has restarted.
// @with test/main/volumes/objects/object-volumes.test.ts

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { boundPod } from "../support/cluster-node.js";
import { settled, startFaultyCluster, still, unready, type FaultyCluster } from "../support/faulty-cluster.js";
import { IDLE, shell } from "../support/static-pods.js";

let cluster: FaultyCluster;

before(async () => {
  cluster = await startFaultyCluster({ api: { controllers: true } });
});
after(() => cluster.stop());

const NAMES = ["a", "b", "c"];
const issued = (): number =>
  cluster.fixture.calls.count({ verb: "create", resource: "serviceaccounts", subresource: "token" });

test("a pod that terminates costs no token, also under a kubelet that has none of it in memory", async () => {
  const { api, fixture, node } = cluster;
  await settled("the service account", () =>
    fixture.store.get("serviceaccounts", "default", "default") === undefined ? "it is not there" : "",
  );
  const sources = [{ serviceAccountToken: { path: "token", expirationSeconds: 3600 } }];
  const container = shell("app", IDLE, { volumeMounts: [{ name: "token", mountPath: "/token" }] });
  for (const name of NAMES) {
    const spec = { volumes: [{ name: "token", projected: { sources } }], containers: [container] };
    await api.create("pods", boundPod(name, IDLE, spec));
  }
  await settled("the pods", () => unready(fixture, NAMES));
  assert.equal(issued(), NAMES.length);
  await node.restart();
  await settled("the pods after the restart", () => unready(fixture, NAMES));
  await node.waitFor((pods) => NAMES.every((name) => pods.some(({ metadata }) => metadata.name === name)), {
    what: "the pods to be known again",
  });
  const known = issued();
  await Promise.all(NAMES.map((name) => api.delete("pods", "default", name)));
  await settled("their end", () => still(fixture, NAMES));
  assert.equal(issued(), known);
});
