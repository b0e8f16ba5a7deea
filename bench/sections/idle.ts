// What the agent costs when nothing happens: memory and processor time with 0, 30 and 100 running pods.
import type { NodeUnderTest } from "../lib/node-under-test.js";
import { markingPod } from "../lib/manifests.js";

export interface IdleRow {
  pods: number;
  rssMiB: number;
  /** Percent of one core. */
  cpuPercent: number;
}

/** The quiet time of the PLEG must have begun before the agent counts as idle. */
const SETTLE_MS = 15_000;
const MEASURE_MS = 30_000;

export async function benchIdle(node: NodeUnderTest): Promise<IdleRow[]> {
  const rows: IdleRow[] = [];
  let made = 0;
  for (const pods of [0, 30, 100]) {
    for (; made < pods; made++) await node.manifests.put(`i-${made}`, markingPod(`i-${made}`, node.marks.directory));
    await node.until(pods, (pod) => pod.status?.phase === "Running");
    await sleep(SETTLE_MS);
    const before = await node.usage();
    await sleep(MEASURE_MS);
    const after = await node.usage();
    const cpuPercent = ((after.cpuSeconds - before.cpuSeconds) / (MEASURE_MS / 1000)) * 100;
    rows.push({ pods, rssMiB: after.rssMiB, cpuPercent: Math.round(cpuPercent * 100) / 100 });
  }
  for (let i = 0; i < made; i++) await node.manifests.remove(`i-${i}`);
  await node.until(0);
  return rows;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
