// `npm run bench [section …]`: measures the kubelet on a real private containerd, prints tables, writes JSON and a page.
// Runs in a network namespace of its own; leaves nothing behind.
import { mkdir, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { createNetns, deleteNetns } from "../packaging/standalone/netns.js";
import { renderPage, type Report } from "./lib/page.js";
import { table } from "./lib/stats.js";
import { startCluster } from "./lib/cluster-under-test.js";
import { startNodeUnderTest } from "./lib/node-under-test.js";
import { benchCluster, type ClusterRow } from "./sections/cluster.js";
import { benchEviction } from "./sections/eviction.js";
import { benchIdle, shownThreads } from "./sections/idle.js";
import { benchPodChange } from "./sections/pod-change.js";
import { benchPodStart, type PodStartRow } from "./sections/pod-start.js";
import { benchQueue } from "./queue.js";
import { benchProbes } from "./sections/probes.js";
import { benchScale } from "./sections/scale.js";
import { benchShape } from "./sections/shape.js";
import { benchSoakUnderAttack } from "./sections/soak-attacks.js";
import { benchSoak, soakMinutes, soakReports } from "./sections/soak.js";
import { benchScrape } from "./sections/scrape.js";
import { benchStreams } from "./sections/streams.js";
import { benchStartup } from "./sections/startup.js";

const RESULTS = fileURLToPath(new URL("../../bench/results/", import.meta.url));
const INSIDE = "NODELET_BENCH_INSIDE";
const SECTIONS = [
  "queue",
  "startup",
  "start",
  "shape",
  "change",
  "idle",
  "scale",
  "probes",
  "cluster",
  "streams",
  "eviction",
  "scrape",
  "soak",
] as const;
/** Takes long: only when it is named. */
const ONLY_BY_NAME: readonly string[] = ["soak"];

async function measure(wanted: readonly string[]): Promise<{ reports: Report[]; raw: Record<string, unknown> }> {
  const reports: Report[] = [];
  const raw: Record<string, unknown> = {};
  const show = (report: Report): void => {
    reports.push(report);
    console.log(`\n### ${report.title}\n\n${table(report.head, report.rows)}`);
  };
  if (wanted.includes("queue")) {
    const queue = await benchQueue();
    raw["queue"] = queue;
    show({
      title: `Between threads: records of ${queue.recordBytes} bytes, latency when idle (µs)`,
      head: ["transport", "direction", "p50", "p99", "max", "M records/s"],
      rows: queue.rows.map(({ transport, direction, latency, recordsPerSecond }) => [
        transport,
        direction,
        Math.round(latency.p50),
        Math.round(latency.p99),
        Math.round(latency.max),
        Math.round(recordsPerSecond / 10_000) / 100,
      ]),
    });
  }
  if (wanted.includes("startup")) {
    const startup = await benchStartup();
    raw["startup"] = startup;
    const rows = { "node, doing nothing": "bareNode", "--version": "version", "--help": "help" } as const;
    show({
      title: "From exec (ms)",
      head: ["to", "p50", "p90", "max"],
      rows: [
        ...Object.entries(rows).map(([name, key]) => [name, startup[key].p50, startup[key].p90, startup[key].max]),
        ["first RunPodSandbox", startup.firstSync.p50, startup.firstSync.p90, startup.firstSync.max],
      ],
    });
  }
  if (wanted.some((section) => ["start", "shape", "change", "idle"].includes(section))) {
    const node = await startNodeUnderTest("/run/nodelet-bench");
    try {
      if (wanted.includes("start")) {
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
        raw["start"] = rows;
        show(startReport(rows));
        show(costReport(rows));
      }
      if (wanted.includes("shape")) {
        await benchShape(node, 2); // warm-up, not counted
        const shape = await benchShape(node, 10);
        raw["shape"] = shape;
        show({
          title:
            "A pod of 3 init containers, 2 sidecars and 2 apps: manifest → both apps run, beside the bare calls (ms)",
          head: ["rounds", "p50", "p90", "floor p50", "floor p90", "× floor"],
          rows: [[shape.rounds, shape.pod.p50, shape.pod.p90, shape.floor.p50, shape.floor.p90, shape.ratio]],
        });
      }
      if (wanted.includes("change")) {
        const change = await benchPodChange(node, 10);
        raw["change"] = change;
        show({
          title: "A running pod changes (ms, containerd without CRI events)",
          head: ["what", "p50", "p90", "max"],
          rows: [
            ["process killed → exit shown in /pods", change.exitSeen.p50, change.exitSeen.p90, change.exitSeen.max],
            [
              "process killed → restarted process",
              change.exitToRestarted.p50,
              change.exitToRestarted.p90,
              change.exitToRestarted.max,
            ],
            [
              "manifest edited → new process",
              change.editToNewProcess.p50,
              change.editToNewProcess.p90,
              change.editToNewProcess.max,
            ],
          ],
        });
      }
      if (wanted.includes("idle")) {
        const idle = await benchIdle(node);
        raw["idle"] = idle;
        show({
          title: "At rest",
          head: ["pods", "RSS MiB", "% of one core over 30 s", "by thread"],
          rows: idle.map((row) => [row.pods, row.rssMiB, row.cpuPercent, shownThreads(row.threads)]),
        });
      }
    } finally {
      await node.stop();
    }
  }
  if (wanted.includes("scale")) {
    const scale = await benchScale();
    raw["scale"] = scale;
    show({
      title: "1,000 pods against an in-memory CRI server",
      head: ["what", "value"],
      rows: [
        ["1,000 manifests → all Running, s", scale.allRunningSeconds],
        ["main-thread delay p99, ms", scale.loopDelayMs["0.99"]],
        ["main-thread delay max, ms", scale.loopDelayMs["1"]],
        ["RSS, MiB", scale.rssMiB],
        ["% of one core at rest", scale.idleCpuPercent],
        ["1,000 removed → all gone, s", scale.allGoneSeconds],
      ],
    });
  }
  if (wanted.includes("probes")) {
    const rows = await benchProbes();
    raw["probes"] = rows;
    show({
      title: "600 probes per second, HTTP and TCP, for a minute (how late they begin, upper bounds, ms)",
      head: ["load", "runs", "per second", "p50", "p99", "skipped", "false failures", "CPU ms per run"],
      rows: rows.map((row) => [
        row.load,
        row.runs,
        row.perSecond,
        row.lateMs.p50,
        row.lateMs.p99,
        row.skipped,
        row.falseFailures,
        row.cpuMsPerRun,
      ]),
    });
  }
  if (wanted.includes("cluster")) {
    await using cluster = await startCluster();
    const flags = ["--kubeconfig", cluster.nodeKubeconfig];
    const node = await startNodeUnderTest("/run/nodelet-bench-cluster", {}, { flags, port: 21_250 });
    try {
      const { rows, rest } = await benchCluster(node, cluster);
      raw["cluster"] = { server: cluster.server, rows, rest };
      show(clusterReport(cluster.server, rows));
      show({
        title: "At rest, in a cluster",
        head: ["pods", "RSS MiB", "% of one core over 30 s", "by thread"],
        rows: rest.map((row) => [row.pods, row.rssMiB, row.cpuPercent, shownThreads(row.threads)]),
      });
    } finally {
      await node.stop();
    }
  }
  if (wanted.includes("streams")) {
    const node = await startNodeUnderTest("/run/nodelet-bench-streams", {}, { port: 21_250 });
    try {
      const streams = await benchStreams(node);
      raw["streams"] = streams;
      const { quiet, served, ratio, mibPerSecond } = streams;
      show({
        title: `Pods one by one (ms) while ${streams.followers} clients follow logs and ${streams.execs} execs stream`,
        head: ["quiet p50", "p90", "served p50", "p90", "served over quiet", "MiB/s to followers"],
        rows: [[quiet.p50, quiet.p90, served.p50, served.p90, ratio, mibPerSecond]],
      });
    } finally {
      await node.stop();
    }
  }
  if (wanted.includes("eviction")) {
    const rows = await benchEviction(5);
    raw["eviction"] = rows;
    show({
      title: "Eviction: times from the crossed threshold (ms)",
      head: ["of", "rounds", "MiB/s", "to the order p50", "max", "to the process dead p50", "max"],
      rows: rows.map((row) => [
        row.what,
        row.rounds,
        row.mibPerSecond,
        row.order.p50,
        row.order.max,
        row.processDead.p50,
        row.processDead.max,
      ]),
    });
  }
  if (wanted.includes("scrape")) {
    const node = await startNodeUnderTest("/run/nodelet-bench-scrape");
    try {
      const rows = await benchScrape(node);
      raw["scrape"] = rows;
      show({
        title: "Pages scraped once a second: the kubelet's use above its use at rest (% of one core)",
        head: ["pods", "at rest", "/metrics/resource", "/stats/summary", "/metrics/cadvisor", "all three", "KiB"],
        rows: rows.map(({ pods, rest, extra, kib }) => [pods, rest, ...Object.values(extra), kib]),
      });
    } finally {
      await node.stop();
    }
  }
  if (wanted.includes("soak")) {
    const underAttack = process.env["NODELET_BENCH_SOAK_ATTACKS"] === "1";
    const soak = await (underAttack ? benchSoakUnderAttack(soakMinutes()) : benchSoak(soakMinutes()));
    raw["soak"] = soak;
    for (const report of soakReports(soak)) show(report);
  }
  return { reports, raw };
}

function clusterReport(server: string, rows: readonly ClusterRow[]): Report {
  return {
    title: `API server (${server}): created → Ready, deleted → gone (ms), and the kubelet's processor time`,
    head: ["pods", "p50", "p99", "last Ready", "floor last", "gone p50", "gone max", "CPU ms per start", "per end"],
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
  const unknown = wanted.filter((section) => !(SECTIONS as readonly string[]).includes(section));
  if (unknown.length > 0) throw new Error(`unknown section ${unknown.join(", ")}; there are ${SECTIONS.join(", ")}`);
  const sections = wanted.length === 0 ? SECTIONS.filter((section) => !ONLY_BY_NAME.includes(section)) : wanted;
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
