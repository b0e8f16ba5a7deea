// The test command: it opens lanes, hands out the files, runs those that failed once more, alone, and reports. Whatever
// happens, the run's folder, processes, namespaces and runtimes are removed: at its end, or by the next run if this one
// was killed.

import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openRun } from "../../tools/standalone/runs.js";
import { chosenLane } from "./chosen-lane.js";
import { Environment, type OpenLane } from "./environment.js";
import type { FileResult } from "./file-result.js";
import { globSync } from "./glob.js";
import { isSlow, measureSlowness } from "./machine-speed.js";
import { watchMachine, waitForRoom } from "./overload.js";
import { recentFirst, recentPaths } from "./recent.js";
import { hasFailed, lineOf, summary, type Outcome } from "./report.js";
import { plan, planLanes, retries, type Chain } from "./schedule.js";
import { select, type Job } from "./selection.js";
import type { LaneKind } from "./suites.js";
import { timeBudget, type TimeBudget } from "./time-budget.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const KEPT = join(ROOT, ".cache", "failed-tests");
/** Unit tests of programs as they are installed. */
const WITH_BUNDLE = ["tools/", "cli/", "main/process/", "page/"];
/** So many files at most show each of their tests as it ends; those of `npm run test:hostile` always do. */
const FEW_FILES = 3;

/** The jobs for the words after `npm test --`, those of recent changes first. @throws SetupProblem */
export function selectJobs(words: readonly string[]): Job[] {
  const lane = chosenLane(process.env);
  const jobs = select(globSync(join(ROOT, "test"), ".test.ts"), { words, ...(lane === undefined ? {} : { lane }) });
  return recentFirst(jobs, recentPaths(ROOT));
}

/**
 * Runs the jobs, or with NODELET_TEST_PREPARE=1 only makes what they need; returns the exit status.
 * @throws SetupProblem
 */
export async function main(jobs: readonly Job[]): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const began = performance.now();
  const budget = timeBudget(process.env["NODELET_TEST_MINUTES"], () => performance.now() - began);
  const run = await openRun((line) => process.stderr.write(`${line}\n`));
  try {
    const environment = new Environment(ROOT, run);
    await environment.prepare(jobs);
    if (process.env["NODELET_TEST_PREPARE"] === "1") {
      await environment.provide(jobs);
      return 0;
    }
    const slowness = measureSlowness();
    if (slowness > 1) console.log(`processes start ${slowness} times as slowly as usual: deadlines are as much longer`);
    const outcomes = await new TestRun(jobs, { environment, budget, slowness }, stop.signal).run();
    const ran = new Set(outcomes.map(({ job }) => job));
    // After Ctrl-C time is no reason.
    const leftOut = stop.signal.aborted ? [] : jobs.filter((job) => !ran.has(job));
    console.log(summary({ outcomes, leftOut }, { seconds: (performance.now() - began) / 1000, keptIn: KEPT }));
    if (stop.signal.aborted) return 130;
    return outcomes.length > 0 && !outcomes.some(hasFailed) ? 0 : 1;
  } finally {
    await run.remove();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

interface TestRunOptions {
  environment: Environment;
  budget: TimeBudget;
  /** Factor of deadlines on this machine. */
  slowness: number;
}

class TestRun {
  private readonly outcomes: Outcome[] = [];
  private readonly lanes: OpenLane[] = [];
  private readonly machine = watchMachine(availableParallelism());
  private running = 0;

  constructor(
    private readonly jobs: readonly Job[],
    private readonly options: TestRunOptions,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<Outcome[]> {
    // A lane that stops resolves the file that it runs.
    const onAbort = (): void => void Promise.allSettled(this.lanes.map(({ lane }) => lane.stop()));
    this.signal.addEventListener("abort", onAbort);
    try {
      const { together, alone } = plan(this.jobs, this.isSlow);
      await this.runTogether(together);
      const isOver = (): boolean => this.options.budget.isOver();
      await this.runAlone(alone, isOver, (job, first) => this.outcomes.push({ job, first }));
      await this.runFailedAgain();
    } finally {
      this.signal.removeEventListener("abort", onAbort);
      await Promise.all(this.lanes.splice(0).map((lane) => lane.close()));
    }
    return this.outcomes;
  }

  private async runTogether(jobs: readonly Job[]): Promise<void> {
    const waiting = new Map<LaneKind, Job[]>();
    for (const job of jobs) waiting.set(job.lane, [...(waiting.get(job.lane) ?? []), job]);
    const inTurn = async (chain: Chain, index: number): Promise<void> => {
      for (const stage of chain) {
        const work = (kind: LaneKind, place: number): Promise<void> =>
          this.work(kind, `${kind}-${index}${place === 0 ? "" : `-${place}`}`, waiting.get(kind) ?? []);
        await Promise.all(stage.map(work));
      }
    };
    await Promise.all(planLanes(jobs, { processors: this.machine.processors, isSlow: this.isSlow }).map(inTurn));
  }

  /** One lane from its start to the end of its kind's files. */
  private async work(kind: LaneKind, name: string, waiting: Job[]): Promise<void> {
    const { budget } = this.options;
    const isOver = (): boolean => waiting.length === 0 || this.signal.aborted || budget.isOverTogether();
    if (isOver()) return;
    const open = await this.open(kind, name);
    while (!isOver()) {
      // Emulated machines are the longest lane: they never wait for the others.
      if (kind !== "machine") await waitForRoom(() => this.running > 0 && !this.signal.aborted, this.machine);
      const job = waiting.shift();
      if (job !== undefined) this.outcomes.push({ job, first: await this.runJob(open, job) });
    }
  }

  private async open(kind: LaneKind, name: string): Promise<OpenLane> {
    const { environment, slowness } = this.options;
    const open = await environment.open(kind, name, slowness);
    this.lanes.push(open);
    return open;
  }

  private get isSlow(): boolean {
    return isSlow(this.options.slowness);
  }

  private async runAlone(
    jobs: readonly Job[],
    isOver: () => boolean,
    take: (job: Job, result: FileResult) => void,
  ): Promise<void> {
    for (const job of jobs) {
      if (this.signal.aborted || isOver()) return;
      const open =
        this.lanes.find(({ lane }) => lane.kind === job.lane) ?? (await this.open(job.lane, `${job.lane}-alone`));
      take(job, await this.runJob(open, job));
    }
  }

  private async runFailedAgain(): Promise<void> {
    const failed = this.outcomes.filter(hasFailed).map(({ job }) => job);
    const again = retries(this.jobs, failed);
    if (again.length > 0) console.log(`\n${again.length} files failed: each runs once more, alone`);
    const never = (): boolean => false;
    await this.runAlone(again, never, (job, second) => {
      const outcome = this.outcomes.find((one) => one.job === job);
      if (outcome !== undefined) outcome.second = second;
    });
  }

  private async runJob({ lane }: OpenLane, job: Job): Promise<FileResult> {
    const isShown = this.jobs.length <= FEW_FILES || this.jobs.every(({ suite }) => suite === "hostile");
    const file = join(ROOT, "dist", "test", `${job.name}.test.js`);
    this.running++;
    const result = await lane.run(file, job.timeoutMs, isShown ? (text) => process.stdout.write(text) : undefined);
    this.running--;
    if (result.failed > 0 && !this.signal.aborted) await this.keep(job, result);
    const hides = result.failed > 0 && !isShown;
    console.log(`${hides ? `${result.output}\n` : ""}${lineOf(job, result)}`);
    return result;
  }

  private async keep(job: Job, { output }: FileResult): Promise<void> {
    await mkdir(KEPT, { recursive: true });
    const time = new Date().toISOString().replace(/[:.]/g, "-");
    await writeFile(join(KEPT, `${time}-${job.name.replaceAll("/", "-")}.txt`), output);
  }
}

/** True if a job runs the bundled kubelet or command: all but most unit tests do. */
export function needsBundle(jobs: readonly Job[]): boolean {
  return jobs.some(({ suite, name }) => suite !== "unit" || WITH_BUNDLE.some((part) => name.startsWith(part)));
}
