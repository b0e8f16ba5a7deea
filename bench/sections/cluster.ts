// Pods as a client of the API server sees them: created → Ready, one by one and in bursts, beside the CRI floor;
// deleted → gone; the kubelet's processor time per pod; and what the node costs at rest with 0, 30 and 100 pods.
// @headline Speed | A pod of the API server is Ready, one at a time. | ≤ 0.40 × upstream
// @headline Speed | The last of 30 pods of the API server is Ready. | ≤ 0.75 × upstream (missed)
// @headline Speed | Half of 30 deleted pods are removed. | ≤ 0.6 × upstream (missed)
// @headline Speed | A pod of a burst costs little processor time. | ≤ 0.8 × upstream (missed)
// @headline Speed | 30 pods at rest use little memory in a cluster. | ≤ 1.1 × upstream (missed)

import { sleep } from "../../tools/standalone/wait.js";
import {
  NAMESPACE,
  NODE_NAME,
  nodeReady,
  PodWatch,
  startCluster,
  type ClusterUnderTest,
} from "../lib/cluster-under-test.js";
import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Report } from "../lib/page.js";
import type { Section } from "../lib/section.js";
import { round, summarize, type Summary } from "../lib/stats.js";
import { atRest, restReport, type IdleRow } from "./idle.js";

interface ClusterRow {
  size: number;
  rounds: number;
  /** Milliseconds; of a burst, each pod from the first create. */
  ready: Summary;
  /** Median over the rounds. */
  lastReady: number;
  lastFloor: number;
  /** delete → removed, of each pod from the first delete. */
  gone: Summary;
  cpuMsPerStart: number;
  cpuMsPerEnd: number;
}

/** Sizes of bursts, and their rounds. */
const BURSTS: readonly (readonly [size: number, rounds: number])[] = [
  [1, 15],
  [10, 3],
  [30, 2],
  [100, 1],
];
/** Numbers of pods with which the node is measured at rest. */
const RESTS = [0, 30, 100];
/** "1,30": only these sizes, for a shorter run. */
const WANTED = process.env["NODELET_BENCH_CLUSTER"]?.split(",").map(Number);
const isWanted = (size: number): boolean => WANTED?.includes(size) ?? true;

let serial = 0;

interface Parts {
  node: NodeUnderTest;
  cluster: ClusterUnderTest;
  watch: PodWatch;
}

interface ClusterResult {
  server: string;
  rows: ClusterRow[];
  rest: IdleRow[];
}

export const clusterSection: Section<ClusterResult> = {
  name: "cluster",
  run: async (nodes) => {
    await using cluster = await startCluster();
    const flags = ["--kubeconfig", cluster.nodeKubeconfig];
    // Other kubelets have not been tried with the protobuf of the fixture.
    const config = cluster.server === "fixture" ? { contentType: "application/json" } : {};
    return await nodes.withOwn("cluster", config, { flags, port: 21_250 }, async (node) => ({
      server: cluster.server,
      ...(await benchCluster(node, cluster)),
    }));
  },
  report: ({ server, rows, rest }) => [clusterReport(server, rows), restReport("At rest, in a cluster", rest)],
};

async function benchCluster(
  node: NodeUnderTest,
  cluster: ClusterUnderTest,
): Promise<{ rows: ClusterRow[]; rest: IdleRow[] }> {
  await nodeReady(cluster.api, NODE_NAME);
  using watch = new PodWatch(cluster.api);
  await watch.start();
  const parts = { node, cluster, watch };
  const rest = isWanted(0) ? [await settled(parts, 0)] : [];
  await benchSize(parts, 1, 2); // warm-up, not counted
  const rows: ClusterRow[] = [];
  for (const [size, rounds] of BURSTS.filter(([one]) => isWanted(one))) {
    rows.push(await benchSize(parts, size, rounds));
    console.log(`cluster, burst of ${size}: done`);
  }
  for (const size of RESTS.filter((one) => one > 0 && isWanted(one))) {
    const names = await create(parts, size);
    rest.push(await settled(parts, size));
    await remove(parts, names);
  }
  return { rows, rest };
}

async function benchSize(parts: Parts, size: number, rounds: number): Promise<ClusterRow> {
  const { node } = parts;
  const ready: number[] = [];
  const lasts: number[] = [];
  const floors: number[] = [];
  const gone: number[] = [];
  let [startCpu, endCpu] = [0, 0];
  for (let turn = 0; turn < rounds; turn++) {
    const before = await node.usage();
    const startedAt = performance.now();
    const names = await create(parts, size);
    const took = (await Promise.all(names.map((name) => parts.watch.at(name, "ready")))).map((at) => at - startedAt);
    const running = await node.usage();
    ready.push(...took);
    lasts.push(Math.max(...took));
    gone.push(...(await remove(parts, names)));
    const after = await node.usage();
    startCpu += running.cpuSeconds - before.cpuSeconds;
    endCpu += after.cpuSeconds - running.cpuSeconds;
    floors.push(Math.max(...(await node.floor.start(names.map((name) => `f${name}`)))));
    await node.floor.clear();
  }
  return {
    size,
    rounds,
    ready: summarize(ready),
    lastReady: summarize(lasts).p50,
    lastFloor: summarize(floors).p50,
    gone: summarize(gone),
    cpuMsPerStart: round((startCpu * 1000) / (size * rounds)),
    cpuMsPerEnd: round((endCpu * 1000) / (size * rounds)),
  };
}

/** All at once; settles when the server has them. */
async function create({ cluster, node }: Parts, size: number): Promise<string[]> {
  const names = Array.from({ length: size }, (_, i) => `c${size}-${++serial}-${i}`);
  await Promise.all(
    names.map(async (name) => {
      const pod = markingPod(name, node.marks.directory) as { metadata: object; spec: object };
      await cluster.api.create("pods", {
        metadata: { ...pod.metadata, namespace: NAMESPACE },
        spec: { ...pod.spec, nodeName: NODE_NAME },
      });
    }),
  );
  return names;
}

/** Milliseconds until each is gone. */
async function remove({ cluster, node, watch }: Parts, names: readonly string[]): Promise<number[]> {
  // A process that has not set its trap yet ignores SIGTERM and ends with its grace period of 10 s.
  await Promise.all(names.map((name) => node.marks.at(`${name}.start.0`)));
  const startedAt = performance.now();
  await Promise.all(names.map((name) => cluster.api.delete("pods", NAMESPACE, name)));
  return (await Promise.all(names.map((name) => watch.at(name, "gone")))).map((at) => at - startedAt);
}

/** The quiet time of the PLEG must have begun before the kubelet counts as idle. */
const SETTLE_MS = 15_000;

async function settled({ node }: Parts, pods: number): Promise<IdleRow> {
  await sleep(SETTLE_MS);
  return { pods, ...(await atRest(node)) };
}

function clusterReport(server: string, rows: readonly ClusterRow[]): Report {
  return {
    title: `API server (${server}): created → Ready, deleted → removed (ms), and the kubelet's processor time`,
    head: [
      "pods",
      "p50",
      "p99",
      "last Ready",
      "floor last",
      "removed p50",
      "removed max",
      "CPU ms per start",
      "per end",
    ],
    rows: rows.map((row) => [
      row.size,
      row.ready.p50,
      row.ready.p99,
      row.lastReady,
      row.lastFloor,
      row.gone.p50,
      row.gone.max,
      row.cpuMsPerStart,
      row.cpuMsPerEnd,
    ]),
  };
}
