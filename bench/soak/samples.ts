// The samples of a soak: memory, open files and threads over time, whether they grow, and the tables of the result.

import { sleep } from "../../tools/standalone/wait.js";
import type { InspectedProcess, ThreadMemory } from "../lib/inspected-process.js";
import type { Report } from "../lib/page.js";
import { plot, type Curve } from "../lib/plot.js";
import type { Usage } from "../lib/process-usage.js";
import { round, slope, slopeError } from "../lib/stats.js";
import { Rounds, type Activity } from "./activity.js";

export interface SoakSample extends Usage {
  minutes: number;
  /**
   * RSS before the collections; {@link Usage.rssMiB} is the one directly after them. In the following seconds the
   * young generations of nine threads grow again by 20 MiB, which would be noise.
   */
  foundMiB: number;
  /** The attack before it, if there was one: each leaves a level of its own. */
  attack?: string;
  /** Memory of each thread, by the thread's name. */
  memory: Record<string, ThreadMemory>;
}

export interface SoakResult {
  seed: number;
  steps: number;
  activities: { name: string; done: number; failed: number; failure?: string }[];
  samples: SoakSample[];
  /** Minute from which on the slopes are taken: what the first pods make the kubelet load and compile is no leak. */
  from: number;
  /** By the name of the curve: what ten minutes add, by least squares, with a level of its own after each attack. */
  perTenMinutes: Record<string, number>;
  /** The standard error of each. */
  errors: Record<string, number>;
  /** No figure of memory grows faster than {@link FLAT_MIB}. */
  flat: boolean;
}

/** MiB in ten minutes. */
const FLAT_MIB = 1;
const FROM_MINUTES = 5;
/** At each sample. Without it the threads collect when V8, or they themselves, see fit. */
const COLLECTS = process.env["NODELET_BENCH_SOAK_COLLECT"] !== "no";
const REST_MS = 2000;

/** The samples so far, printed too. */
export async function takeSample(
  elapsed: number,
  inspected: InspectedProcess,
  usage: () => Promise<Usage>,
): Promise<SoakSample> {
  await sleep(REST_MS);
  const { rssMiB: foundMiB } = await usage();
  const memory = Object.fromEntries(await inspected.memory(COLLECTS));
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

export function fromOf(minutes: number): number {
  return Math.min(FROM_MINUTES, minutes / 2);
}

export function verdict(
  samples: readonly SoakSample[],
  minutes: number,
): Pick<SoakResult, "from" | "perTenMinutes" | "errors" | "flat"> {
  const from = fromOf(minutes);
  const perTenMinutes: Record<string, number> = {};
  const errors: Record<string, number> = {};
  let flat = true;
  for (const { title, points } of curvesOf(samples)) {
    const fitted = points.filter(([x]) => x >= from);
    const grown = 10 * slope(fitted);
    perTenMinutes[title] = Math.round(grown * 100) / 100;
    errors[title] = Math.round(slopeError(fitted) * 1000) / 100;
    if (title.includes("MiB") && grown > FLAT_MIB) flat = false;
  }
  return { from, perTenMinutes, errors, flat };
}

/** Returns the curves of the process, then those of each thread that lived all the time. */
function curvesOf(samples: readonly SoakSample[]): Curve[] {
  const curve = (title: string, value: (sample: SoakSample) => number): Curve => ({
    title,
    points: samples.map((sample) => [sample.minutes, value(sample), sample.attack] as const),
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

export function soakReports({
  seed,
  steps,
  samples,
  activities,
  from,
  perTenMinutes,
  errors,
  flat,
}: SoakResult): Report[] {
  const curves = curvesOf(samples);
  const row = (index: number): number[] => curves.map(({ points }) => round(points[index]?.[1] ?? 0));
  const slopes = curves.map(({ title }) => perTenMinutes[title]);
  return [
    {
      title: `Soak (seed ${seed}): ${flat ? "flat" : "NOT FLAT"}; last rows: what 10 minutes add, from minute ${from} on, and its standard error`,
      head: ["minute", ...curves.map(({ title }) => title)],
      rows: [
        ...shown(samples).map((index) => [samples[index]?.minutes, ...row(index)]),
        ["per 10 min", ...slopes],
        ["±", ...curves.map(({ title }) => errors[title])],
      ],
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
