// From exec to something useful: --version, --help, and the first pod's sandbox asked of an in-memory CRI server.
// Beside them the floor: a Node process that does nothing.
// @headline Speed | The kubelet asks for the first PodSandbox after exec. | ≤ 400 ms; 200 ms (missed)
// @headline Speed | `--version` and `--help` answer. | ≤ 120 ms

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFakeCri } from "../../test/fake-cri/fake-cri.js";
import { removeCgroups } from "../../tools/standalone/cgroups.js";
import { KUBELET_ENTRY, KUBELET_NODE_FLAGS, prepareKubelet } from "../../tools/standalone/kubelet-process.js";
import { markingPod } from "../lib/manifests.js";
import { benchFolder, newCgroup } from "../lib/places.js";
import { threadTimeOf } from "../lib/process-usage.js";
import { removeTree } from "../lib/remove-tree.js";
import type { Nodes, Section, Subject } from "../lib/section.js";
import { summarize, type Summary } from "../lib/stats.js";

interface StartupResult {
  /** All: milliseconds from exec. */
  bareNode: Summary;
  version: Summary;
  help: Summary;
  firstSync: Summary;
  /** Milliseconds of processor time of all threads until then. */
  firstSyncCpu: Summary;
}

const ROUNDS = 15;

export const startupSection: Section<StartupResult> = {
  name: "startup",
  run: benchStartup,
  report: ({ bareNode, version, help, firstSync, firstSyncCpu }) => {
    const rows = {
      "node, doing nothing": bareNode,
      "--version": version,
      "--help": help,
      "first RunPodSandbox": firstSync,
      "processor time until then": firstSyncCpu,
    };
    return [
      {
        title: "From exec (ms)",
        head: ["to", "p50", "p90", "max"],
        rows: Object.entries(rows).map(([name, { p50, p90, max }]) => [name, p50, p90, max]),
      },
    ];
  },
};

async function benchStartup({ subject }: Nodes): Promise<StartupResult> {
  const { entry = KUBELET_ENTRY } = subject;
  const kubelet = entry.endsWith(".js") ? [process.execPath, ...KUBELET_NODE_FLAGS, entry] : [entry];
  const starts: Start[] = [];
  return {
    bareNode: await series(() => runToEnd([process.execPath, "--eval", "0"])),
    version: await series(() => runToEnd([...kubelet, "--version"])),
    help: await series(() => runToEnd([...kubelet, "--help"])),
    firstSync: await series(async () => {
      const start = await execToFirstSync(subject);
      starts.push(start);
      return start.ms;
    }),
    firstSyncCpu: summarize(starts.slice(1).map(({ cpuMs }) => cpuMs)),
  };
}

/** The first round warms the page cache and does not count. */
async function series(one: () => Promise<number>): Promise<Summary> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) times.push(await one());
  return summarize(times.slice(1));
}

async function runToEnd([program = "", ...args]: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: "ignore" });
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return performance.now() - startedAt;
}

interface Start {
  /** From exec to the first RunPodSandbox. */
  ms: number;
  /** Processor time of all threads until then. */
  cpuMs: number;
}

async function execToFirstSync({ entry, config }: Subject): Promise<Start> {
  const base = benchFolder("startup");
  await removeTree(base);
  await mkdir(base, { recursive: true });
  const socketPath = join(base, "cri.sock");
  const fake = await startFakeCri({ socketPath, images: ["nodelet.local/busybox:1"] });
  const cgroupRoot = await newCgroup();
  const kubelet = await prepareKubelet({
    dir: join(base, "k"),
    endpoint: `unix://${socketPath}`,
    cgroupRoot,
    readOnlyPort: 22_265,
    healthzPort: 22_258,
    nodeName: "startup",
    ...(config === undefined ? {} : { config }),
    ...(entry === undefined ? {} : { entry }),
  });
  try {
    await writeFile(join(kubelet.manifests, "first.json"), JSON.stringify(markingPod("first", join(base, "marks"))));
    const startedAt = performance.now();
    await kubelet.start();
    while (!fake.calls.some(({ verb }) => verb === "RunPodSandbox"))
      await new Promise((resolve) => setTimeout(resolve, 1));
    const ms = performance.now() - startedAt;
    return { ms, cpuMs: await threadTimeOf(kubelet.pid ?? 0) };
  } finally {
    await kubelet.end("SIGTERM");
    await fake.stop();
    await removeCgroups(cgroupRoot);
    await removeTree(base);
  }
}
