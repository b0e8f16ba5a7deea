// `npm run bench [section …]`: measures the kubelet on a real private containerd, prints tables, writes JSON and a page.
// Runs in a network namespace of its own; leaves nothing behind.
import { mkdir, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { createNetns, deleteNetns } from "../packaging/standalone/netns.js";
import { renderPage, type Report } from "./lib/page.js";
import { SharedNode, type Section } from "./lib/section.js";
import { table } from "./lib/stats.js";
import { queueSection } from "./sections/queue.js";
import { startupSection } from "./sections/startup.js";
import { startSection } from "./sections/pod-start.js";
import { shapeSection } from "./sections/shape.js";
import { changeSection } from "./sections/pod-change.js";
import { idleSection } from "./sections/idle.js";
import { scaleSection } from "./sections/scale.js";
import { probesSection } from "./sections/probes.js";
import { clusterSection } from "./sections/cluster.js";
import { streamsSection } from "./sections/streams.js";
import { evictionSection } from "./sections/eviction.js";
import { scrapeSection } from "./sections/scrape.js";
import { soakSection } from "./sections/soak.js";

const RESULTS = fileURLToPath(new URL("../../bench/results/", import.meta.url));
const INSIDE = "NODELET_BENCH_INSIDE";
/** In the order in which they run. */
const SECTIONS: readonly Section[] = [
  queueSection,
  startupSection,
  startSection,
  shapeSection,
  changeSection,
  idleSection,
  scaleSection,
  probesSection,
  clusterSection,
  streamsSection,
  evictionSection,
  scrapeSection,
  soakSection,
];

async function measure(wanted: readonly string[]): Promise<{ reports: Report[]; raw: Record<string, unknown> }> {
  const reports: Report[] = [];
  const raw: Record<string, unknown> = {};
  const shared = new SharedNode();
  try {
    for (const section of SECTIONS.filter(({ name }) => wanted.includes(name))) {
      if (section.sharesNode !== true) await shared.stop();
      const result = await section.run(shared);
      raw[section.name] = result;
      for (const report of section.report(result)) {
        reports.push(report);
        console.log(`\n### ${report.title}\n\n${table(report.head, report.rows)}`);
      }
    }
  } finally {
    await shared.stop();
  }
  return { reports, raw };
}

async function inside(wanted: readonly string[]): Promise<void> {
  const startedAt = new Date();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`;
  console.log(machine);
  const { reports, raw } = await measure(wanted);
  const stamp = startedAt.toISOString().replace(/[:.]/g, "-");
  await mkdir(RESULTS, { recursive: true });
  await writeFile(`${RESULTS}${stamp}.json`, `${JSON.stringify({ machine, startedAt, ...raw }, undefined, 2)}\n`);
  await writeFile(`${RESULTS}${stamp}.html`, renderPage(machine, startedAt, reports));
  console.log(`\nwritten: bench/results/${stamp}.json and .html`);
}

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const names = SECTIONS.map(({ name }) => name);
  const unknown = wanted.filter((section) => !names.includes(section));
  if (unknown.length > 0) throw new Error(`unknown section ${unknown.join(", ")}; there are ${names.join(", ")}`);
  const byDefault = SECTIONS.filter(({ onlyByName }) => onlyByName !== true).map(({ name }) => name);
  const sections = wanted.length === 0 ? byDefault : wanted;
  if (process.env[INSIDE] !== undefined) {
    await inside(sections);
    return;
  }
  const netns = `nodelet-bench-${process.pid}`;
  await createNetns(netns);
  try {
    const program = [process.execPath, ...process.execArgv, fileURLToPath(import.meta.url), ...sections];
    const ended = spawnSync("nsenter", [`--net=/run/netns/${netns}`, ...program], {
      stdio: "inherit",
      env: { ...process.env, [INSIDE]: "1" },
    });
    process.exitCode = ended.status ?? 1;
  } finally {
    await deleteNetns(netns);
  }
}

await main();
