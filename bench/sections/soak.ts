// A churn of everything for half an hour: does the kubelet stay as it is? Pods of all shapes from files and from an API
// server, probes, execs, followers, scrapes, resizes, changed config maps, pulls, kills of the runtime. Memory, open files
// and threads are looked at whenever the pods of files are as ordered, so that the samples compare.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { buildImages, BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";
import type { PodView } from "../../packaging/standalone/pods.js";
import { sleep, waitFor } from "../../packaging/standalone/wait.js";
import { systemClock } from "../../src/shared/clock/clock.js";
import { createCriClient } from "../../src/shared/cri/client.js";
import { aliases, Churn } from "../../test/support/churn.js";
import { startRegistry } from "../../test/support/registry.js";
import { chosenSeed, randomFrom } from "../../test/support/seeded-random.js";
import { startCluster } from "../lib/cluster-under-test.js";
import { InspectedProcess, type ThreadMemory } from "../lib/inspected-process.js";
import { startNodeUnderTest } from "../lib/node-under-test.js";
import type { Report } from "../lib/page.js";
import { plot, type Curve } from "../lib/plot.js";
import type { Usage } from "../lib/process-usage.js";
import { round, slope } from "../lib/stats.js";
import { Rounds, type Activity } from "../soak/activity.js";
import { Execs, Followers, Scrapes, startWriters } from "../soak/clients.js";
import { ConfigChanges, Jobs, Pulls, Resizes } from "../soak/cluster-churn.js";
import { RuntimeKills } from "../soak/runtime-kills.js";

export interface SoakSample extends Usage {
  minutes: number;
  /** RSS before the collections; {@link Usage.rssMiB} is that after them. */
  foundMiB: number;
  /** Of each thread, by its name. */
  memory: Record<string, ThreadMemory>;
}

export interface SoakResult {
  seed: number;
  steps: number;
  activities: { name: string; done: number; failed: number; failure?: string }[];
  samples: SoakSample[];
  /** Minute from which on the slopes are taken: what the first pods make the kubelet load and compile is no leak. */
  from: number;
  /** By the name of the curve: what ten minutes add, by least squares. */
  perTenMinutes: Record<string, number>;
  /** No figure of memory grows faster than {@link FLAT_MIB}. */
  flat: boolean;
}

/** MiB in ten minutes. */
const FLAT_MIB = 1;
const FROM_MINUTES = 5;
/** At each sample. Without it the threads collect when V8, or they themselves, see fit. */
const COLLECTS = process.env["NODELET_BENCH_SOAK_COLLECT"] !== "no";
const SLOTS = 30;
const ROUND_MS = 20_000;
const PAUSE_MS = 1000;
const SETTLE_MS = 240_000;
const REST_MS = 2000;
const WRITERS = ["writer-0", "writer-1"];
const TAGS = ["1", "2", "3"];

/** `NODELET_BENCH_SOAK_MINUTES`, half an hour unless it is set. */
export function soakMinutes(): number {
  const minutes = Number(process.env["NODELET_BENCH_SOAK_MINUTES"] ?? 30);
  if (!(minutes > 0))
    throw new Error("NODELET_BENCH_SOAK_MINUTES is not a number above 0: set the minutes of the soak");
  return minutes;
}

export async function benchSoak(minutes: number): Promise<SoakResult> {
  await using cluster = await startCluster();
  const base = "/run/nodelet-soak";
  const config = { crashLoopBackOff: { maxContainerRestartPeriod: "1s" } };
  const flags = ["--kubeconfig", cluster.nodeKubeconfig];
  const node = await startNodeUnderTest(base, config, { flags, port: 21_250 });
  try {
    const seed = chosenSeed();
    const random = randomFrom(seed);
    const ctl = join(node.kubelet.dir, "ctl");
    await mkdir(ctl);
    await startWriters(node, WRITERS);
    const churn = new Churn({
      put: (name, pod) => node.manifests.put(name, pod).then(() => undefined),
      remove: (name) => node.manifests.remove(name).then(() => undefined),
      images: await aliases(node.containerd.endpoint, BUSYBOX_IMAGE),
      ...{ ctl, nodeName: "bench", random, slots: SLOTS },
    });
    for (const name of churn.names) await churn.put(name);
    const registry = await startRegistry({ auth: false });
    const archive = await buildImages(join(base, "images"));
    for (const tag of TAGS)
      await registry.push({ archive, source: BUSYBOX_IMAGE, repository: "soak", tag, padding: 4096 });
    const cri = createCriClient({
      endpoint: node.containerd.endpoint,
      runtimeRequestTimeoutMs: 30_000,
      clock: systemClock,
    });
    await using activities = new Activities([
      new Followers(node, WRITERS),
      new Execs(node, WRITERS),
      new Scrapes(node),
      new Resizes(cluster.api),
      new ConfigChanges(cluster.api),
      new Jobs(cluster.api),
      new Pulls(cluster.api, registry, cri, TAGS),
      new RuntimeKills(node.containerd),
    ]);
    const samples: SoakSample[] = [];
    let steps = 0;
    const step = async (until: number): Promise<void> => {
      for (; performance.now() < until; steps++) {
        await churn.step();
        await sleep(random() * PAUSE_MS);
      }
    };
    const startedAt = performance.now();
    using inspected = await InspectedProcess.open(node.kubelet.pid ?? 0);
    let saved = false;
    for (let elapsed = 0; elapsed < minutes;) {
      const until = performance.now() + ROUND_MS;
      await Promise.all([step(until), ...activities.rounds.map((one) => one.goOn(until))]);
      await settle(churn, () => node.kubelet.pods());
      elapsed = (performance.now() - startedAt) / 60_000;
      if (elapsed >= fromOf(minutes) && !saved) {
        await saveSnapshots(inspected);
        saved = true;
      }
      samples.push(await takeSample(elapsed, inspected, () => node.usage()));
    }
    await saveSnapshots(inspected);
    for (const name of churn.names) await churn.remove(name);
    await settle(churn, () => node.kubelet.pods());
    cri.close();
    return { seed, steps, activities: activities.results(), samples, ...verdict(samples, minutes) };
  } finally {
    await node.stop();
  }
}

/** What there is now, printed too. */
export async function takeSample(
  elapsed: number,
  inspected: InspectedProcess,
  usage: () => Promise<Usage>,
): Promise<SoakSample> {
  await sleep(REST_MS);
  const { rssMiB: foundMiB } = await usage();
  const memory = Object.fromEntries(await inspected.memory(COLLECTS));
  // V8 gives pages back on threads of its own.
  await sleep(REST_MS);
  const sample = { minutes: Math.round(elapsed * 100) / 100, ...(await usage()), foundMiB, memory };
  const heaps = Object.entries(memory).map(([name, { heapMiB }]) => `${name} ${round(heapMiB)}`);
  console.log(`minute ${sample.minutes}: RSS ${sample.rssMiB} (${foundMiB} with garbage), heaps ${heaps.join(", ")}`);
  return sample;
}

/** Together, as they are begun and ended together. */
export class Activities implements AsyncDisposable {
  readonly rounds: Rounds[];

  constructor(private readonly all: readonly Activity[]) {
    this.rounds = all.map((activity) => new Rounds(activity));
  }

  results(): SoakResult["activities"] {
    return this.rounds.map(({ name, done, failed, failure }) => ({
      ...{ name, done, failed },
      ...(failure !== undefined && { failure }),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const activity of this.all) await activity[Symbol.asyncDispose]();
  }
}

function fromOf(minutes: number): number {
  return Math.min(FROM_MINUTES, minutes / 2);
}

export function verdict(
  samples: readonly SoakSample[],
  minutes: number,
): Pick<SoakResult, "from" | "perTenMinutes" | "flat"> {
  const from = fromOf(minutes);
  const perTenMinutes: Record<string, number> = {};
  let flat = true;
  for (const { title, points } of curvesOf(samples)) {
    const grown = 10 * slope(points.filter(([x]) => x >= from));
    perTenMinutes[title] = Math.round(grown * 100) / 100;
    if (title.includes("MiB") && grown > FLAT_MIB) flat = false;
  }
  return { from, perTenMinutes, flat };
}

/** Of the process, then of each thread that lived all the time. */
function curvesOf(samples: readonly SoakSample[]): Curve[] {
  const curve = (title: string, value: (sample: SoakSample) => number): Curve => ({
    title,
    points: samples.map((sample) => [sample.minutes, value(sample)] as const),
  });
  const threads = Object.keys(samples[0]?.memory ?? {}).filter((name) =>
    samples.every(({ memory }) => memory[name] !== undefined),
  );
  return [
    curve("RSS, MiB", ({ rssMiB }) => rssMiB),
    curve("RSS with garbage", ({ foundMiB }) => foundMiB),
    curve("anonymous, MiB", ({ anonymousMiB }) => anonymousMiB),
    ...threads.map((name) => curve(`heap of ${name}, MiB`, ({ memory }) => memory[name]?.heapMiB ?? 0)),
    curve("external, MiB", ({ memory }) =>
      Object.values(memory).reduce((sum, { externalMiB }) => sum + externalMiB, 0),
    ),
    curve("open files", ({ openFiles }) => openFiles),
    curve("threads", ({ threads: count }) => count),
  ];
}

async function settle(churn: Churn, pods: () => Promise<PodView[]>): Promise<void> {
  let problem = "";
  const ofFiles = async (): Promise<PodView[]> =>
    (await pods()).filter(({ metadata }) => /^k\d+-bench$/.test(metadata.name));
  await waitFor(async () => (problem = churn.problem(await ofFiles())) === "", {
    what: "the pods to be as ordered",
    timeoutMs: SETTLE_MS,
    intervalMs: 200,
    lastSeen: () => problem,
  });
  churn.settled();
}

/**
 * Heap snapshots of all threads, into the folder that `NODELET_BENCH_SOAK_SNAPSHOTS` names: where the fit begins and at the
 * end. They take memory: such a run tells what grows, not how much.
 */
async function saveSnapshots(inspected: InspectedProcess): Promise<void> {
  const folder = process.env["NODELET_BENCH_SOAK_SNAPSHOTS"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  for (const name of (await inspected.memory(true)).keys()) {
    await inspected.writeSnapshot(name, join(folder, `${name.replaceAll("/", "-")}-${Date.now()}.heapsnapshot`));
  }
}

export function soakReports({ seed, steps, samples, activities, from, perTenMinutes, flat }: SoakResult): Report[] {
  const curves = curvesOf(samples);
  const row = (index: number): number[] => curves.map(({ points }) => round(points[index]?.[1] ?? 0));
  const slopes = curves.map(({ title }) => perTenMinutes[title]);
  return [
    {
      title: `Soak (seed ${seed}): ${flat ? "flat" : "NOT FLAT"}; last row: what 10 minutes add, from minute ${from} on`,
      head: ["minute", ...curves.map(({ title }) => title)],
      rows: [...shown(samples).map((index) => [samples[index]?.minutes, ...row(index)]), ["per 10 min", ...slopes]],
      svg: plot(curves, from),
    },
    {
      title: "What went on meanwhile",
      head: ["what", "rounds", "failed", "last failure"],
      rows: [
        ["changes of pods from files", steps, 0, undefined],
        ...activities.map(({ name, done, failed, failure }) => [
          name,
          done,
          failed,
          failure?.split("\n", 1)[0]?.slice(0, 100),
        ]),
      ],
    },
  ];
}

/** Indexes of some of the samples, evenly, first and last among them. */
function shown(samples: readonly SoakSample[], count = 12): number[] {
  const last = samples.length - 1;
  return [...new Set(Array.from({ length: count }, (_, index) => Math.round((index * last) / (count - 1))))];
}
