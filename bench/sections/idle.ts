// Cost of an idle kubelet: memory and processor time with 0, 30 and 100 running pods.
// @headline Speed | 100 pods at rest use little processor time. | ≤ 2 % of a core
// @headline Speed | 30 pods at rest use little memory. | ≤ 130 MiB (missed)

import { sleep } from "../../tools/standalone/wait.js";
import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Report } from "../lib/page.js";
import type { Section } from "../lib/section.js";

export interface IdleRow {
  pods: number;
  rssMiB: number;
  /** Percent of one core. */
  cpuPercent: number;
  threads: ThreadShare[];
}

interface ThreadShare {
  thread: string;
  heapMiB: number;
  cpuPercent: number;
}

/** The quiet time of the PLEG must have begun before the kubelet counts as idle. */
const SETTLE_MS = 15_000;
const MEASURE_MS = 30_000;

export const idleSection: Section<IdleRow[]> = {
  name: "idle",
  sharesNode: true,
  run: async (nodes) => await benchIdle(await nodes.shared()),
  report: (rows) => [restReport("At rest", rows)],
};

export function restReport(title: string, rows: readonly IdleRow[]): Report {
  return {
    title,
    head: ["pods", "RSS MiB", "% of one core over 30 s", "by thread"],
    rows: rows.map((row) => [row.pods, row.rssMiB, row.cpuPercent, shownThreads(row.threads)]),
  };
}

async function benchIdle(node: NodeUnderTest): Promise<IdleRow[]> {
  const rows: IdleRow[] = [];
  let made = 0;
  for (const pods of [0, 30, 100]) {
    for (; made < pods; made++) await node.manifests.put(`i-${made}`, markingPod(`i-${made}`, node.marks.directory));
    await node.until(pods, (pod) => pod.status?.phase === "Running");
    await sleep(SETTLE_MS);
    rows.push({ pods, ...(await atRest(node)) });
  }
  for (let i = 0; i < made; i++) await node.manifests.remove(`i-${i}`);
  await node.until(0);
  return rows;
}

/**
 * Memory and processor time over a while in which nothing happens. The scrapes for the threads' shares are outside of
 * it.
 */
export async function atRest(node: Pick<NodeUnderTest, "usage" | "threadUsage">): Promise<Omit<IdleRow, "pods">> {
  const threadsBefore = await node.threadUsage();
  const before = await node.usage();
  await sleep(MEASURE_MS);
  const after = await node.usage();
  const threadsAfter = await node.threadUsage();
  const percent = (seconds: number): number => Math.round((seconds / (MEASURE_MS / 1000)) * 10_000) / 100;
  return {
    rssMiB: after.rssMiB,
    cpuPercent: percent(after.cpuSeconds - before.cpuSeconds),
    threads: [...threadsAfter].map(([thread, { cpuSeconds, heapMiB }]) => ({
      thread,
      heapMiB,
      cpuPercent: percent(cpuSeconds - (threadsBefore.get(thread)?.cpuSeconds ?? 0)),
    })),
  };
}

/** "main 0.5 % 24 MiB, pleg …" */
function shownThreads(threads: readonly ThreadShare[]): string {
  return threads.map(({ thread, cpuPercent, heapMiB }) => `${thread} ${cpuPercent} % ${heapMiB} MiB`).join(", ");
}
