// The series of docs/monitoring.md that only a node of a cluster has.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { testImage, waitFor } from "../harness/node.js";
import { NODE_NAME, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { promisedSeries, servedSeries } from "../support/monitoring.js";

const namespace = `monitoring-${process.pid}`;
let cluster: ClusterNode;

before(async () => {
  cluster = await startClusterNode({ config: { volumeStatsAggPeriod: "1s" } });
  const { api, fixture, node } = cluster;
  await api.create("namespaces", { metadata: { name: namespace } });
  await api.waitFor("serviceaccounts", namespace, "default", (found) => found !== undefined, { what: "the account" });
  const path = join(node.kubelet.dir, "claimed");
  await mkdir(path);
  const volumeName = `${namespace}-data`;
  const common = { accessModes: ["ReadWriteOnce"], storageClassName: "", volumeMode: "Filesystem" };
  const claim = await api.create("persistentvolumeclaims", {
    metadata: { name: "data", namespace },
    spec: { ...common, volumeName, resources: { requests: { storage: "1Mi" } } },
  });
  const here = { key: "metadata.name", operator: "In", values: [NODE_NAME] };
  await api.create("persistentvolumes", {
    metadata: { name: volumeName },
    spec: {
      ...common,
      capacity: { storage: "1Mi" },
      claimRef: { namespace, name: "data", uid: claim.metadata.uid },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchFields: [here] }] } },
      persistentVolumeReclaimPolicy: "Retain",
      local: { path },
    },
  });
  if (fixture !== undefined) {
    const status = { phase: "Bound", capacity: { storage: "1Mi" }, accessModes: ["ReadWriteOnce"] };
    await api.patch("persistentvolumeclaims", namespace, "data", { status }, { subresource: "status" });
  }
  const main = {
    name: "main",
    image: testImage(),
    imagePullPolicy: "Never",
    command: ["sh", "-c", "trap 'exit 0' TERM; sleep 3600 & wait"],
    volumeMounts: [{ name: "data", mountPath: "/data" }],
  };
  await api.create("pods", {
    metadata: { name: "claimant", namespace },
    spec: {
      nodeName: NODE_NAME,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [main],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    },
  });
});
after(async () => {
  const { api } = cluster;
  await api.delete("pods", namespace, "claimant", { gracePeriodSeconds: 0 });
  await api.delete("namespaces", "", namespace);
  await cluster.stop();
});

test("every series that the table promises in a cluster is on its page", async () => {
  const wanted = promisedSeries()
    .filter(({ served }) => served.startsWith("in a cluster"))
    .map(({ name }) => name);
  assert.ok(wanted.length >= 8);
  // An alert of nodelet's own rules names it.
  wanted.push("nodelet_node_lease_withheld_total");
  let missing: string[] = [];
  await waitFor(
    async () => {
      const served = servedSeries(await (await fetch(`${cluster.node.kubelet.url}/metrics`)).text());
      missing = wanted.filter((name) => !served.has(name));
      return missing.length === 0;
    },
    { what: "the series", timeoutMs: 90_000, intervalMs: 500, lastSeen: () => `missing: ${missing.join(", ")}` },
  );
});
