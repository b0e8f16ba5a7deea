// Runs the jobs: hands their files out to lanes, and runs those that failed once more, alone.
// Invariant: after a stop no file begins and none runs again; the file that ran has no result.

import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Environment, OpenLane } from "./environment.js";
import type { FileResult } from "./file-result.js";
import { isSlow } from "./machine-speed.js";
import { watchMachine, waitForRoom } from "./overload.js";
import { hasFailed, lineOf, type Outcome } from "./report.js";
import { plan, planLanes, retries, type Chain } from "./schedule.js";
import type { Job } from "./selection.js";
import type { LaneKind } from "./suites.js";
import type { TimeBudget } from "./time-budget.js";

/** So many files at most show each of their tests as it ends; those of `npm run test:hostile` always do. */
const FEW_FILES = 3;

export interface TestRunOptions {
  /** Folder of the checkout. */
  root: string;
  /** Folder for the output of files that failed. */
  keptIn: string;
  environment: Pick<Environment, "open">;
  budget: TimeBudget;
  /** Factor of deadlines on this machine. */
  slowness: number;
}

type TakeResult = (job: Job, result: FileResult) => void;

export class TestRun {
  private readonly outcomes: Outcome[] = [];
  private readonly lanes: OpenLane[] = [];
  private readonly machine = watchMachine(availableParallelism());
  private running = 0;
  private readonly add: TakeResult = (job, first) => this.outcomes.push({ job, first });

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
      await this.runAlone(alone, isOver, this.add);
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
    const isOver = (): boolean => waiting.length === 0 || this.isStopped() || budget.isOverTogether();
    if (isOver()) return;
    const open = await this.open(kind, name);
    while (!isOver()) {
      // Emulated machines are the longest lane: they never wait for the others.
      if (kind !== "machine") await waitForRoom(() => this.running > 0 && !this.isStopped(), this.machine);
      const job = waiting.shift();
      if (job !== undefined) await this.runJob(open, job, this.add);
    }
  }

  private async open(kind: LaneKind, name: string): Promise<OpenLane> {
    const { environment, slowness } = this.options;
    const open = await environment.open(kind, name, slowness);
    this.lanes.push(open);
    return open;
  }

  private isStopped(): boolean {
    return this.signal.aborted;
  }

  private get isSlow(): boolean {
    return isSlow(this.options.slowness);
  }

  private async runAlone(jobs: readonly Job[], isOver: () => boolean, take: TakeResult): Promise<void> {
    for (const job of jobs) {
      if (this.isStopped() || isOver()) return;
      const open =
        this.lanes.find(({ lane }) => lane.kind === job.lane) ?? (await this.open(job.lane, `${job.lane}-alone`));
      await this.runJob(open, job, take);
    }
  }

  private async runFailedAgain(): Promise<void> {
    if (this.isStopped()) return;
    const failed = this.outcomes.filter(hasFailed).map(({ job }) => job);
    const again = retries(this.jobs, failed);
    if (again.length > 0) console.log(`\n${again.length} files failed: each runs once more, alone`);
    const never = (): boolean => false;
    await this.runAlone(again, never, (job, second) => {
      const outcome = this.outcomes.find((one) => one.job === job);
      if (outcome !== undefined) outcome.second = second;
    });
  }

  private async runJob({ lane }: OpenLane, job: Job, take: TakeResult): Promise<void> {
    if (this.isStopped()) return;
    const isShown = this.jobs.length <= FEW_FILES || this.jobs.every(({ suite }) => suite === "hostile");
    const file = join(this.options.root, "dist", "test", `${job.name}.test.js`);
    this.running++;
    const result = await lane.run(file, job.timeoutMs, isShown ? (text) => process.stdout.write(text) : undefined);
    this.running--;
    if (this.isStopped()) return;
    if (result.failed > 0) await this.keep(job, result);
    const hides = result.failed > 0 && !isShown;
    console.log(`${hides ? `${result.output}\n` : ""}${lineOf(job, result)}`);
    take(job, result);
  }

  private async keep(job: Job, { output }: FileResult): Promise<void> {
    const { keptIn } = this.options;
    await mkdir(keptIn, { recursive: true });
    const time = new Date().toISOString().replace(/[:.]/g, "-");
    await writeFile(join(keptIn, `${time}-${job.name.replaceAll("/", "-")}.txt`), output);
  }
}
