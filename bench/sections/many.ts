// 250 and 500 real pods on one node: their start, the kubelet's cost at rest, their end.

import { sleep } from "../../tools/standalone/wait.js";
import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Section } from "../lib/section.js";
import { round } from "../lib/stats.js";
import { atRest, restReport, type IdleRow } from "./idle.js";

interface ManyRow extends IdleRow {
  /** From the first manifest of this row's additional pods to the last running pod. */
  startSeconds: number;
  /** Processor time of the kubelet per additional pod. */
  cpuMsPerStart: number;
  /** Mean of the relists at rest; undefined where the kubelet reports none in that time. */
  relistMs: number | undefined;
}

interface ManyResult {
  rows: ManyRow[];
  endSeconds: number;
  cpuMsPerEnd: number;
}

const COUNTS = [250, 500];
const PATIENCE_MS = 900_000;
/** The PLEG's rest must have begun before the kubelet counts as idle. */
const SETTLE_MS = 30_000;

export const manySection: Section<ManyResult> = {
  name: "many",
  run: (nodes) => nodes.withOwn("many", { maxPods: 600 }, {}, benchMany),
  report: ({ rows, endSeconds, cpuMsPerEnd }) => [
    {
      title: "Hundreds of pods: start and end",
      head: ["pods", "all running after s", "CPU ms per start", "relist ms at rest"],
      rows: rows.map((row) => [row.pods, row.startSeconds, row.cpuMsPerStart, row.relistMs]),
    },
    restReport("Hundreds of pods at rest", rows),
    {
      title: "The end of all pods",
      head: ["pods", "all removed after s", "CPU ms per end"],
      rows: [[rows.at(-1)?.pods ?? 0, endSeconds, cpuMsPerEnd]],
    },
  ],
};

async function benchMany(node: NodeUnderTest): Promise<ManyResult> {
  const rows: ManyRow[] = [];
  let made = 0;
  for (const pods of COUNTS) {
    const more = pods - made;
    const start = await measured(node, async () => {
      for (; made < pods; made++)
        await node.manifests.put(nameOf(made), markingPod(nameOf(made), node.marks.directory));
      await node.until(pods, (pod) => pod.status?.phase === "Running", PATIENCE_MS);
    });
    await sleep(SETTLE_MS);
    const before = await relistsOf(node.kubelet.url);
    const rest = await atRest(node);
    const after = await relistsOf(node.kubelet.url);
    const relistMs = after.count > before.count ? (after.sum - before.sum) / (after.count - before.count) : undefined;
    rows.push({
      ...{ pods, ...rest, startSeconds: start.seconds, cpuMsPerStart: round(start.cpuMs / more) },
      relistMs: relistMs === undefined ? undefined : round(1000 * relistMs),
    });
  }
  const end = await measured(node, async () => {
    for (let i = 0; i < made; i++) await node.manifests.remove(nameOf(i));
    await node.until(0, undefined, PATIENCE_MS);
  });
  return { rows, endSeconds: end.seconds, cpuMsPerEnd: round(end.cpuMs / made) };
}

function nameOf(index: number): string {
  return `many-${index}`;
}

async function measured(node: NodeUnderTest, work: () => Promise<void>): Promise<{ seconds: number; cpuMs: number }> {
  const before = await node.usage();
  const startedAt = performance.now();
  await work();
  const seconds = round((performance.now() - startedAt) / 1000);
  return { seconds, cpuMs: 1000 * ((await node.usage()).cpuSeconds - before.cpuSeconds) };
}

/** Seconds and number of the relists so far; the metric is the same in every kubelet. */
async function relistsOf(url: string): Promise<{ sum: number; count: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0);
  return {
    sum: figure("kubelet_pleg_relist_duration_seconds_sum"),
    count: figure("kubelet_pleg_relist_duration_seconds_count"),
  };
}
