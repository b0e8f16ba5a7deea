// The test command: it opens lanes, hands out the files, runs those that failed once more, alone, and reports. Whatever
// happens, the run's folder, processes, namespaces and runtimes are removed: at its end, or by the next run if this one
// was killed.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openRun } from "../../tools/standalone/runs.js";
import { STOPPED, watchSignals } from "../../tools/standalone/signals.js";
import { chosenLane } from "./chosen-lane.js";
import { Environment } from "./environment.js";
import { globSync } from "./glob.js";
import { measureSlowness } from "./machine-speed.js";
import { recentFirst, recentPaths } from "./recent.js";
import { hasFailed, summary } from "./report.js";
import { select, type Job } from "./selection.js";
import { TestRun } from "./test-run.js";
import { timeBudget } from "./time-budget.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const KEPT = join(ROOT, ".cache", "failed-tests");
/** Unit tests of programs as they are installed. */
const WITH_BUNDLE = ["tools/", "cli/", "main/process/", "page/"];

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
  const say = (line: string): void => console.error(line);
  const signals = watchSignals(say);
  const { stopped } = signals;
  // The next run removes the rest.
  signals.hurried.addEventListener("abort", () => process.exit(STOPPED));
  const began = performance.now();
  const budget = timeBudget(process.env["NODELET_TEST_MINUTES"], () => performance.now() - began);
  const run = await openRun(say);
  try {
    const environment = new Environment(ROOT, run);
    await environment.prepare(jobs);
    if (process.env["NODELET_TEST_PREPARE"] === "1") {
      await environment.provide(jobs);
      return 0;
    }
    const slowness = measureSlowness();
    if (slowness > 1) console.log(`processes start ${slowness} times as slowly as usual: deadlines are as much longer`);
    const where = { root: ROOT, keptIn: KEPT };
    const outcomes = await new TestRun(jobs, { ...where, environment, budget, slowness }, stopped).run();
    const ran = new Set(outcomes.map(({ job }) => job));
    // After a signal time is no reason.
    const leftOut = stopped.aborted ? [] : jobs.filter((job) => !ran.has(job));
    console.log(summary({ outcomes, leftOut }, { seconds: (performance.now() - began) / 1000, keptIn: KEPT }));
    if (stopped.aborted) return STOPPED;
    return outcomes.length > 0 && !outcomes.some(hasFailed) ? 0 : 1;
  } finally {
    await run.remove();
    signals.unwatch();
  }
}

/** True if a job runs the bundled kubelet or command: all but most unit tests do. */
export function needsBundle(jobs: readonly Job[]): boolean {
  return jobs.some(({ suite, name }) => suite !== "unit" || WITH_BUNDLE.some((part) => name.startsWith(part)));
}
