// `npm run bench [section …] [--kubelet <kubelet>] [--against <kubelet> [--turns 4]]`: measures a kubelet on a real
// private containerd, prints tables, writes JSON, a page and a picture. With --against, another kubelet executable has
// its turns in the same run. Runs in a network namespace of its own; leaves nothing behind.

import { mkdir, readdir, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { cachePath } from "../src/shared/io/code/code-cache.js";
import { widenPath } from "../tools/standalone/exec.js";
import { ensurePackages, missingPackages } from "../tools/standalone/packages.js";
import { isSetupProblem, SetupProblem } from "../tools/standalone/problem.js";
import { programWords } from "../tools/standalone/program-words.js";
import { step } from "../tools/standalone/progress.js";
import { compare, turns, type Side } from "./lib/against.js";
import { measureInOwnRun } from "./lib/own-run.js";
import { renderPage, type Report } from "./lib/page.js";
import { renderPicture } from "./lib/result-picture.js";
import { Nodes, type Section, type Subject } from "./lib/section.js";
import { table } from "./lib/stats.js";
import { channelSection } from "./sections/channel.js";
import { clusterSection } from "./sections/cluster.js";
import { costSection } from "./sections/cost.js";
import { dockershimSection } from "./sections/dockershim.js";
import { evictionSection } from "./sections/eviction.js";
import { fleetSection } from "./sections/fleet.js";
import { idleSection } from "./sections/idle.js";
import { manySection } from "./sections/many.js";
import { changeSection } from "./sections/pod-change.js";
import { startSection } from "./sections/pod-start.js";
import { probesSection } from "./sections/probes.js";
import { profileSection } from "./sections/profile.js";
import { queueSection } from "./sections/queue.js";
import { scaleSection } from "./sections/scale.js";
import { scrapeSection } from "./sections/scrape.js";
import { shapeSection } from "./sections/shape.js";
import { soakSection } from "./sections/soak.js";
import { startupSection } from "./sections/startup.js";
import { streamsSection } from "./sections/streams.js";
import { trafficSection } from "./sections/traffic.js";

const RESULTS = fileURLToPath(new URL("../../bench/results/", import.meta.url));
const PACKS = fileURLToPath(new URL("../../dist/agent/packs/", import.meta.url));
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
  costSection,
  channelSection,
  streamsSection,
  evictionSection,
  scrapeSection,
  soakSection,
  profileSection,
  trafficSection,
  manySection,
  fleetSection,
  dockershimSection,
];

interface WantedWords {
  sections: string[];
  turns: number;
  against: string | undefined;
  kubelet: string | undefined;
}

interface Wanted {
  sections: Section[];
  /** Measured in place of ours. */
  kubelet: string | undefined;
  /** Another kubelet to compare with. */
  against: string | undefined;
  turns: number;
}

interface Measured {
  reports: Report[];
  raw: Record<string, unknown>;
}

/** Compared kubelets log plain text: not every build of upstream's has a JSON format. */
const COMMON = { logging: { format: "text" } };

async function measure({ sections, kubelet }: Wanted): Promise<Measured> {
  const measured: Measured = { reports: [], raw: {} };
  const nodes = new Nodes(kubelet === undefined ? {} : { config: COMMON, entry: kubelet });
  try {
    for (const section of sections) {
      if (section.sharesNode !== true) await nodes.stopShared();
      const result = await section.run(nodes);
      measured.raw[section.name] = result;
      print(section.report(result), measured);
    }
  } finally {
    await nodes.stopShared();
  }
  return measured;
}

async function measureAgainst({ sections, kubelet, against = "", turns: count }: Wanted): Promise<Measured> {
  const ours: Subject = { config: COMMON, ...(kubelet !== undefined && { entry: kubelet }) };
  const subjects: Record<Side, Subject> = { ours, other: { config: COMMON, entry: against } };
  const measured: Measured = { reports: [], raw: {} };
  for (const section of sections) {
    const results: { side: Side; result: unknown }[] = [];
    for (const [turn, side] of turns(count).entries()) {
      console.log(
        `${section.name}: turn ${turn + 1} of ${count}, ${side === "ours" ? (kubelet ?? "our kubelet") : against}`,
      );
      const nodes = new Nodes(subjects[side]);
      try {
        results.push({ side, result: await section.run(nodes) });
      } finally {
        await nodes.stopShared();
      }
    }
    measured.raw[section.name] = results;
    const of = (wanted: Side): Report[][] =>
      results.filter(({ side }) => side === wanted).map(({ result }) => section.report(result));
    print(compare(of("ours"), of("other")), measured);
  }
  return measured;
}

function print(reports: readonly Report[], measured: Measured): void {
  for (const report of reports) {
    measured.reports.push(report);
    console.log(`\n### ${report.title}\n\n${table(report.head, report.rows)}`);
  }
}

async function inside(wanted: Wanted): Promise<void> {
  const startedAt = new Date();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.version}`;
  console.log(machine);
  await warnOfMissingCache();
  const { reports, raw } = await (wanted.against === undefined ? measure(wanted) : measureAgainst(wanted));
  const stamp = startedAt.toISOString().replace(/[:.]/g, "-");
  await mkdir(RESULTS, { recursive: true });
  await writeFile(
    `${RESULTS}${stamp}.json`,
    `${JSON.stringify({ machine, startedAt, kubelet: wanted.kubelet, against: wanted.against, ...raw }, undefined, 2)}\n`,
  );
  await writeFile(`${RESULTS}${stamp}.html`, renderPage(machine, startedAt, reports));
  await writeFile(`${RESULTS}${stamp}.svg`, renderPicture(machine, startedAt, reports));
  console.log(`\nwritten: bench/results/${stamp}.json, .html and .svg`);
}

/** A build makes the code cache for its own V8 only: under another Node each start compiles everything. */
async function warnOfMissingCache(): Promise<void> {
  const suffix = cachePath("");
  if ((await readdir(PACKS)).some((name) => name.endsWith(suffix))) return;
  console.log(
    `warning: the build has no code cache for V8 ${process.versions.v8}, so each start takes longer; ` +
      "make one with this Node: node dist/agent/make-cache.js dist/agent",
  );
}

/** The command line as tools/usage/bench.mjs reads it. */
async function wantedWords(): Promise<Wanted> {
  const { sections: names, turns: count, against, kubelet } = await programWords<WantedWords>("dist/bench/main.js");
  const sections = SECTIONS.filter(({ name }) => names.includes(name));
  const whole = (path: string | undefined): string | undefined => (path === undefined ? undefined : resolve(path));
  return { sections, turns: count, against: whole(against), kubelet: whole(kubelet) };
}

async function main(): Promise<void> {
  const wanted = await wantedWords();
  if (process.env[INSIDE] !== undefined) {
    await inside(wanted);
    return;
  }
  if (process.getuid?.() !== 0) throw new SetupProblem("not root: containers need it; run the same command with sudo");
  const say = (line: string): void => console.error(line);
  const own = wanted.sections.flatMap(({ packages = [] }) => packages);
  // Before the namespace without connections is entered.
  await ensurePackages({ say, step, findMissing: (runtimeIsThere) => missingPackages(runtimeIsThere, own) });
  const program = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  process.exitCode = await measureInOwnRun("bench", program, { [INSIDE]: "1" });
}

try {
  widenPath();
  await main();
} catch (error) {
  if (!isSetupProblem(error)) throw error;
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
}
