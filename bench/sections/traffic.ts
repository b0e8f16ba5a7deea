// Cost of a node for its API server: requests, bytes and watch events. Measured per minute at rest, per start and end
// of a pod, and per restart of the kubelet. The API server of test/ counts them, so that --against compares equal
// things.

import { FakeApi } from "../../test/fake-api/fake-api.js";
import { ApiKit } from "../../test/support/api-kit.js";
import { sleep } from "../../tools/standalone/wait.js";
import { since, SUMS, trafficOf, type Traffic } from "../lib/api-traffic.js";
import { NAMESPACE, NODE_NAME, nodeReady, PodWatch } from "../lib/cluster-under-test.js";
import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Nodes, Section } from "../lib/section.js";

/** Per minute, per pod, or per restart. */
interface TrafficRow {
  what: string;
  atRest: number;
  atRestWithPods: number;
  perStart: number;
  perEnd: number;
  perRestart: number;
}

const PODS = 30;
/** Work after a pod is Ready or removed counts too. */
const SETTLE_MS = 5_000;
const REST_MS = 60_000;

export const trafficSection: Section<TrafficRow[]> = {
  name: "traffic",
  run: benchTraffic,
  report: (rows) => [
    {
      title: `Requests of a node to its API server: per minute at rest, per pod of a burst of ${PODS}, per restart of the kubelet`,
      head: ["what", "at rest", `with ${PODS} pods`, "pod started", "pod ended", "restart"],
      rows: rows.map((row) => [row.what, row.atRest, row.atRestWithPods, row.perStart, row.perEnd, row.perRestart]),
    },
  ],
};

async function benchTraffic(nodes: Nodes): Promise<TrafficRow[]> {
  const user = `system:node:${NODE_NAME}`;
  await using api = await FakeApi.start({ controllers: true, nodeRestriction: true });
  const client = await ApiKit.fromKubeconfig(await api.kubeconfig({ name: "admin", groups: ["system:masters"] }));
  const flags = ["--kubeconfig", await api.kubeconfig({ name: user, groups: ["system:nodes"] })];
  const during = async (work: () => Promise<unknown>): Promise<Traffic> => {
    const before = trafficOf(api, user);
    await work();
    return since(before, trafficOf(api, user));
  };
  try {
    // Other kubelets have not been tried with the protobuf of the API server in test/.
    return await nodes.withOwn(
      "traffic",
      { contentType: "application/json" },
      { flags, port: 21_250 },
      async (node) => {
        await nodeReady(client, NODE_NAME);
        using watch = new PodWatch(client);
        await watch.start();
        await sleep(SETTLE_MS);
        const names = Array.from({ length: PODS }, (_, i) => `traffic-${i}`);
        const atRest = await during(() => sleep(REST_MS));
        const starts = await during(() => start(client, watch, node, names));
        const atRestWithPods = await during(() => sleep(REST_MS));
        const restart = await during(async () => {
          await node.kubelet.end("SIGTERM");
          await node.kubelet.start();
          await node.kubelet.waitHealthy(60_000);
          await sleep(2 * SETTLE_MS);
        });
        const ends = await during(() => end(client, watch, names));
        return rowsOf({ atRest, atRestWithPods, starts, ends, restart });
      },
    );
  } finally {
    client.close();
  }
}

async function start(client: ApiKit, watch: PodWatch, node: NodeUnderTest, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const { metadata, spec } = markingPod(name, node.marks.directory) as { metadata: object; spec: object };
      await client.create("pods", {
        metadata: { ...metadata, namespace: NAMESPACE },
        spec: { ...spec, nodeName: NODE_NAME },
      });
    }),
  );
  await Promise.all(names.map((name) => watch.at(name, "ready")));
  await sleep(SETTLE_MS);
}

async function end(client: ApiKit, watch: PodWatch, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => client.delete("pods", NAMESPACE, name)));
  await Promise.all(names.map((name) => watch.at(name, "gone")));
  await sleep(SETTLE_MS);
}

interface Measured {
  atRest: Traffic;
  atRestWithPods: Traffic;
  starts: Traffic;
  ends: Traffic;
  restart: Traffic;
}

function rowsOf(measured: Measured): TrafficRow[] {
  const labels = new Set<string>(SUMS);
  for (const traffic of Object.values(measured) as Traffic[])
    for (const label of [...traffic.keys()].sort()) labels.add(label);
  const each = (traffic: Traffic, label: string, by = 1): number =>
    Math.round((100 * (traffic.get(label) ?? 0)) / by) / 100;
  return [...labels]
    .map((what) => ({
      what,
      atRest: each(measured.atRest, what, REST_MS / 60_000),
      atRestWithPods: each(measured.atRestWithPods, what, REST_MS / 60_000),
      perStart: each(measured.starts, what, PODS),
      perEnd: each(measured.ends, what, PODS),
      perRestart: each(measured.restart, what),
    }))
    .filter(({ what, ...figures }) => !what.startsWith(" ") || Object.values(figures).some((figure) => figure > 0));
}
