// Cost of scraping: the kubelet's processor time with one request for its metrics pages per second, minus its idle
// time. Measured with 10 and 100 pods. Processor time, not wall time: a busy machine changes it little.

import { sleep } from "../../tools/standalone/wait.js";
import { markingPod } from "../lib/manifests.js";
import type { NodeUnderTest } from "../lib/node-under-test.js";
import type { Section } from "../lib/section.js";

interface ScrapeRow {
  pods: number;
  /** Percent of one core, as are the others. */
  rest: number;
  extra: { resource: number; summary: number; cadvisor: number; all: number };
  /** Size of the three pages together, KiB. */
  kib: number;
}

const SETTLE_MS = 15_000;
const MEASURE_MS = 20_000;
const PERIOD_MS = 1000;
const PAGES = { resource: "/metrics/resource", summary: "/stats/summary", cadvisor: "/metrics/cadvisor" } as const;

export const scrapeSection: Section<ScrapeRow[]> = {
  name: "scrape",
  run: (nodes) => nodes.withOwn("scrape", {}, {}, benchScrape),
  report: (rows) => [
    {
      title: "Pages scraped once a second: the kubelet's use above its use at rest (% of one core)",
      head: ["pods", "at rest", "/metrics/resource", "/stats/summary", "/metrics/cadvisor", "all three", "KiB"],
      rows: rows.map(({ pods, rest, extra, kib }) => [pods, rest, ...Object.values(extra), kib]),
    },
  ],
};

async function benchScrape(node: NodeUnderTest): Promise<ScrapeRow[]> {
  const rows: ScrapeRow[] = [];
  let made = 0;
  for (const pods of [10, 100]) {
    for (; made < pods; made++) await node.manifests.put(`c-${made}`, markingPod(`c-${made}`, node.marks.directory));
    await node.until(pods, (pod) => pod.status?.phase === "Running");
    await sleep(SETTLE_MS);
    const rest = await costOf(node, []);
    const extra = async (paths: readonly string[]): Promise<number> => {
      // Modules that are loaded and figures that are measured for the first time do not count.
      await scrape(node, paths, 3 * PERIOD_MS);
      return round((await costOf(node, paths)) - rest);
    };
    const { resource, summary, cadvisor } = PAGES;
    rows.push({
      pods,
      rest: round(rest),
      extra: {
        resource: await extra([resource]),
        summary: await extra([summary]),
        cadvisor: await extra([cadvisor]),
        all: await extra(Object.values(PAGES)),
      },
      kib: Math.round((await scrape(node, Object.values(PAGES), 0)) / 1024),
    });
    console.log(`scraped with ${pods} pods`);
  }
  for (let i = 0; i < made; i++) await node.manifests.remove(`c-${i}`);
  await node.until(0);
  return rows;
}

/** Percent of one core. */
async function costOf(node: NodeUnderTest, paths: readonly string[]): Promise<number> {
  const before = await node.usage();
  await scrape(node, paths, MEASURE_MS);
  const after = await node.usage();
  return ((after.cpuSeconds - before.cpuSeconds) / (MEASURE_MS / 1000)) * 100;
}

/** Once, and then once a second. Returns the bytes of the last round. */
async function scrape(node: NodeUnderTest, paths: readonly string[], forMs: number): Promise<number> {
  for (const end = performance.now() + forMs; ;) {
    const next = performance.now() + PERIOD_MS;
    let bytes = 0;
    for (const path of paths) {
      const response = await fetch(`${node.kubelet.url}${path}`);
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      bytes += (await response.arrayBuffer()).byteLength;
    }
    if (performance.now() >= end) return bytes;
    await sleep(Math.max(0, next - performance.now()));
  }
}

function round(percent: number): number {
  return Math.round(percent * 100) / 100;
}
