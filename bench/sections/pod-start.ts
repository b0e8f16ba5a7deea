// Static pods: manifest put in place → process inside the container, one by one and in bursts. The CRI floor is
// measured by turns in the same run. Also: manifest removed → SIGTERM.
// @headline Speed | A new manifest becomes a process, beside the bare CRI calls. | ≤ 1.3 × bare
// @headline Speed | The last of 30 new pods runs. | ≤ 1.15 × bare
// @headline Speed | A removed manifest causes SIGTERM at once. | 20 ms
// @headline Speed | Main is punctual in a burst of 100. | p99 ≤ 20 ms (missed)

import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Report } from "../lib/page.js";
import type { Section } from "../lib/section.js";
import { summarize, type Summary } from "../lib/stats.js";

interface PodStartRow {
  size: number;
  rounds: number;
  /** Milliseconds. For a burst, of each pod from the moment the first manifest was put in place. */
  pod: Summary;
  floor: Summary;
  /** Until the last pod of the burst runs: median over the rounds. */
  lastPod: number;
  lastFloor: number;
  /** p50 over p50 one by one; last over last for bursts. */
  ratio: number;
  removalToSigterm: Summary;
  loopDelayMs: Record<string, number>;
  rssMiB: number;
  cpuSeconds: number;
}

/** Marks are never reused: every round has names of its own. */
let serial = 0;

export const startSection: Section<PodStartRow[]> = {
  name: "start",
  sharesNode: true,
  run: async (nodes) => {
    const node = await nodes.shared();
    const rows: PodStartRow[] = [];
    await benchPodStart(node, 1, 2); // warm-up, not counted
    for (const [size, rounds] of [
      [1, 15],
      [10, 5],
      [30, 3],
      [100, 1],
    ] as const) {
      rows.push(await benchPodStart(node, size, rounds));
      console.log(`burst of ${size}: done`);
    }
    return rows;
  },
  report: (rows) => [startReport(rows), costReport(rows)],
};

/** `others`: pods that run all the while. */
export async function benchPodStart(
  node: NodeUnderTest,
  size: number,
  rounds: number,
  others = 0,
): Promise<PodStartRow> {
  const pods: number[] = [];
  const floors: number[] = [];
  const lasts: number[] = [];
  const lastFloors: number[] = [];
  const terms: number[] = [];
  let rssMiB = 0;
  let cpuSeconds = 0;
  const delays: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    const names = Array.from({ length: size }, (_, i) => `p${size}-${++serial}-${i}`);
    await node.loopDelay();
    const before = await node.usage();
    const startedAt = performance.now();
    for (const name of names) await node.manifests.put(name, markingPod(name, node.marks.directory));
    const took = (await Promise.all(names.map((name) => node.marks.at(`${name}.start.0`)))).map((at) => at - startedAt);
    await node.until(others + size, (pod) => pod.status?.phase === "Running");
    const after = await node.usage();
    for (const [quantile, ms] of Object.entries(await node.loopDelay())) {
      delays[quantile] = Math.max(delays[quantile] ?? 0, ms);
    }
    rssMiB = Math.max(rssMiB, after.rssMiB);
    cpuSeconds += after.cpuSeconds - before.cpuSeconds;
    pods.push(...took);
    lasts.push(Math.max(...took));
    const removed = await Promise.all(
      names.map(async (name) => {
        const at = await node.manifests.remove(name);
        return (await node.marks.at(`${name}.term.0`)) - at;
      }),
    );
    terms.push(...removed);
    await node.until(others);

    const floor = await node.floor.start(names.map((name) => `f${name}`));
    floors.push(...floor);
    lastFloors.push(Math.max(...floor));
    await node.floor.clear();
  }
  const last = summarize(lasts).p50;
  const lastFloor = summarize(lastFloors).p50;
  const ratio = size === 1 ? summarize(pods).p50 / summarize(floors).p50 : last / lastFloor;
  return {
    size,
    rounds,
    pod: summarize(pods),
    floor: summarize(floors),
    lastPod: last,
    lastFloor,
    ratio: Math.round(ratio * 100) / 100,
    removalToSigterm: summarize(terms),
    loopDelayMs: delays,
    rssMiB,
    cpuSeconds: Math.round((cpuSeconds / rounds) * 100) / 100,
  };
}

function startReport(rows: readonly PodStartRow[]): Report {
  return {
    title: "Manifest → process in the container, beside the bare CRI calls (ms)",
    head: [
      "pods",
      "p50",
      "p99",
      "floor p50",
      "floor p99",
      "last",
      "floor last",
      "× floor",
      "removal → SIGTERM p50",
      "p99",
    ],
    rows: rows.map((row) => [
      row.size,
      row.pod.p50,
      row.pod.p99,
      row.floor.p50,
      row.floor.p99,
      row.lastPod,
      row.lastFloor,
      row.ratio,
      row.removalToSigterm.p50,
      row.removalToSigterm.p99,
    ]),
  };
}

function costReport(rows: readonly PodStartRow[]): Report {
  return {
    title: "The cost of a burst for the kubelet",
    head: ["pods", "main delay p50 ms", "p99 ms", "max ms", "RSS MiB", "CPU s"],
    rows: rows.map((row) => [
      row.size,
      row.loopDelayMs["0.5"],
      row.loopDelayMs["0.99"],
      row.loopDelayMs["1"],
      row.rssMiB,
      row.cpuSeconds,
    ]),
  };
}
