// Hundreds to thousands of pods: the kubelet as a process against an in-memory CRI server (test/fake-cri), to see what
// the kubelet alone costs, and how that grows with the pods.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ContainerState, type ContainerStatus } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { startFakeCri, type FakeCri } from "../../test/fake-cri/fake-cri.js";
import { removeCgroups } from "../../tools/standalone/cgroups.js";
import { prepareKubelet, type KubeletProcess } from "../../tools/standalone/kubelet-process.js";
import { sleep, waitFor } from "../../tools/standalone/wait.js";
import { markingPod, Manifests } from "../lib/manifests.js";
import { loopDelayOf } from "../lib/node-under-test.js";
import type { Report } from "../lib/page.js";
import { benchFolder, newCgroup } from "../lib/places.js";
import { threadTimeOf, usageOf } from "../lib/process-usage.js";
import { removeTree } from "../lib/remove-tree.js";
import type { Section } from "../lib/section.js";
import { round, slope } from "../lib/stats.js";

/** Cost with so many pods. */
interface ScaleRow {
  pods: number;
  /** From the first manifest of this row's additional pods to the last running container. */
  startSeconds: number;
  /** Main's longest delay meanwhile. */
  loopDelayMs: number;
  /** Processor time of the kubelet beyond that of rest, per additional pod. */
  cpuMsPerStart: number;
  /** Processor time per second, with nothing to do. */
  restMsPerSecond: number;
  /** Beyond that of rest, per container that ends and is restarted. */
  cpuMsPerChange: number;
  rssMiB: number;
}

interface ScaleResult {
  rows: ScaleRow[];
  endSeconds: number;
  cpuMsPerEnd: number;
}

/** A figure's exponent: 0 where pods cost nothing, 1 where it grows as they do. */
const CURVES = ["cpuMsPerStart", "restMsPerSecond", "cpuMsPerChange", "rssMiB"] as const;

const folder = (): string => benchFolder("scale");
/** Numbers of pods, ascending. */
const SIZES = (process.env["NODELET_BENCH_SCALE"] ?? "250,500,1000")
  .split(",")
  .map(Number)
  .sort((a, b) => a - b);
const PATIENCE_MS = 1_800_000;
const SETTLE_MS = 15_000;
const REST_MS = 20_000;
/** Containers that end while the cost of a change is measured, one after the other. */
const CHANGES = 40;
const CHANGE_PAUSE_MS = 250;
/** Until statuses and logs of the last change are written. */
const AFTER_CHANGES_MS = 3000;

export const scaleSection: Section<ScaleResult> = {
  name: "scale",
  run: benchScale,
  report: scaleReport,
};

function scaleReport({ rows, endSeconds, cpuMsPerEnd }: ScaleResult): Report[] {
  const exponents = CURVES.map((figure) => exponentOf(rows.map((row) => [row.pods, row[figure]])));
  const [start, rest, change, rss] = exponents.map((exponent) => `pods^${exponent.toFixed(2)}`);
  const head = ["pods", "all running after s", "main's longest delay ms", "CPU ms per start"];
  return [
    {
      title: "Pods against an in-memory CRI server",
      head: [...head, "CPU ms per s at rest", "CPU ms per restart", "RSS MiB"],
      rows: [
        ...rows.map((row) => [
          ...[row.pods, row.startSeconds, row.loopDelayMs, row.cpuMsPerStart],
          ...[row.restMsPerSecond, row.cpuMsPerChange, row.rssMiB],
        ]),
        ["grows as", "", "", start ?? "", rest ?? "", change ?? "", rss ?? ""],
      ],
    },
    { title: "The end of all of them", head: ["s", "CPU ms per end"], rows: [[endSeconds, cpuMsPerEnd]] },
  ];
}

/** Slope of the line with the least squares through the logarithms; NaN with fewer than two sizes. */
function exponentOf(points: readonly (readonly [pods: number, figure: number])[]): number {
  return slope(points.map(([pods, figure]) => [Math.log(pods), Math.log(Math.max(figure, 0.01))] as const));
}

async function benchScale(): Promise<ScaleResult> {
  await removeTree(folder());
  await mkdir(join(folder(), "staging"), { recursive: true });
  const socketPath = join(folder(), "cri.sock");
  const fake = await startFakeCri({ socketPath, images: ["nodelet.local/busybox:1"], recordCalls: false });
  const cgroupRoot = await newCgroup();
  const kubelet = await prepareKubelet({
    dir: join(folder(), "k"),
    endpoint: `unix://${socketPath}`,
    cgroupRoot,
    readOnlyPort: 22_255,
    healthzPort: 22_248,
    nodeName: "scale",
    config: { maxPods: Math.max(...SIZES) + 10 },
    ...(process.env["NODELET_BENCH_ENTRY"] === undefined ? {} : { entry: process.env["NODELET_BENCH_ENTRY"] }),
  });
  try {
    await kubelet.start();
    await kubelet.waitHealthy();
    const manifests = new Manifests(kubelet.manifests, join(folder(), "staging"));
    const rows: ScaleRow[] = [];
    for (const size of SIZES) rows.push(await rowOf({ fake, kubelet, manifests }, rows.at(-1), size));
    return { rows, ...(await end({ fake, kubelet, manifests }, rows.at(-1)?.pods ?? 0)) };
  } finally {
    await kubelet.end("SIGTERM");
    await fake.stop();
    await removeCgroups(cgroupRoot);
    await removeTree(folder());
  }
}

interface Parts {
  fake: FakeCri;
  kubelet: KubeletProcess;
  manifests: Manifests;
}

async function rowOf(parts: Parts, last: ScaleRow | undefined, pods: number): Promise<ScaleRow> {
  const { fake, kubelet } = parts;
  const { pods: from, restMsPerSecond: restBefore } = last ?? { pods: 0, restMsPerSecond: 0 };
  const pid = kubelet.pid ?? 0;
  await loopDelayOf(kubelet.url);
  let startSeconds = NaN;
  const start = await timeOver(pid, async () => {
    startSeconds = await startPods(parts, from, pods);
    await sleep(SETTLE_MS);
  });
  const delays = await loopDelayOf(kubelet.url);
  const rest = await timeOver(pid, () => sleep(REST_MS));
  const restMsPerSecond = (rest.cpuMs / rest.ms) * 1000;
  const changes = await timeOver(pid, () => change(fake));
  const beyondRest = ({ ms, cpuMs }: Spent, restMs: number): number => cpuMs - (restMs * ms) / 1000;
  return {
    ...{ pods, startSeconds, loopDelayMs: round(delays["1"] ?? NaN) },
    cpuMsPerStart: round(beyondRest(start, (restBefore + restMsPerSecond) / 2) / (pods - from)),
    restMsPerSecond: round(restMsPerSecond),
    cpuMsPerChange: round(beyondRest(changes, restMsPerSecond) / CHANGES),
    rssMiB: (await usageOf(pid)).rssMiB,
  };
}

/** Seconds until the last of them runs. */
async function startPods({ fake, manifests }: Parts, from: number, pods: number): Promise<number> {
  const startedAt = performance.now();
  for (let i = from; i < pods; i++) await manifests.put(`s-${i}`, markingPod(`s-${i}`, join(folder(), "marks")));
  await untilRunning(fake, pods);
  return round((performance.now() - startedAt) / 1000);
}

interface Spent {
  ms: number;
  cpuMs: number;
}

async function timeOver(pid: number, work: () => Promise<unknown>): Promise<Spent> {
  const [at, before] = [performance.now(), await threadTimeOf(pid)];
  await work();
  return { ms: performance.now() - at, cpuMs: (await threadTimeOf(pid)) - before };
}

/** Ends containers of different pods; each is restarted at once, since it ended for the first time. */
async function change(fake: FakeCri): Promise<void> {
  const running = runningOf(fake);
  const step = Math.floor(running.length / CHANGES);
  for (let i = 0; i < CHANGES; i++) {
    fake.exit(running[i * step]?.id ?? "", 1);
    await sleep(CHANGE_PAUSE_MS);
  }
  await untilRunning(fake, running.length);
  await sleep(AFTER_CHANGES_MS);
}

async function end({ fake, kubelet, manifests }: Parts, pods: number): Promise<Omit<ScaleResult, "rows">> {
  const pid = kubelet.pid ?? 0;
  const [removedAt, before] = [performance.now(), await usageOf(pid)];
  for (let i = 0; i < pods; i++) await manifests.remove(`s-${i}`);
  await waitFor(() => fake.state.sandboxes.size === 0, {
    what: "the sandboxes to be gone",
    timeoutMs: PATIENCE_MS,
  });
  const endSeconds = round((performance.now() - removedAt) / 1000);
  const { cpuSeconds } = await usageOf(pid);
  return { endSeconds, cpuMsPerEnd: round(((cpuSeconds - before.cpuSeconds) * 1000) / pods) };
}

/** Asks the runtime: a kubelet that lists thousands of pods for the bench would be measured with that. */
async function untilRunning(fake: FakeCri, pods: number): Promise<void> {
  await waitFor(() => runningOf(fake).length === pods, {
    what: `${pods} containers to run`,
    timeoutMs: PATIENCE_MS,
    intervalMs: 200,
    lastSeen: () => `${runningOf(fake).length} run`,
  });
}

function runningOf({ state }: FakeCri): ContainerStatus[] {
  return [...state.containers.values()]
    .map(({ status }) => status)
    .filter((status) => status.state === ContainerState.CONTAINER_RUNNING);
}
