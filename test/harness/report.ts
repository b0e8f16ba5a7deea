// What `npm test` prints: a line for each file, the whole output of a file that failed, and closing lines with counts,
// flaky files and the slowest files.

import type { FileResult } from "./file-result.js";
import type { Job } from "./selection.js";

/** A file and the results of its runs: two if the first one failed and it ran again. */
export interface Outcome {
  job: Job;
  first: FileResult;
  second?: FileResult;
}

const SLOWEST = 20;

/** `✔ integration/probes  12 passed, 1 skipped (34.1 s)` */
export function lineOf({ suite, name }: Job, { passed, failed, skipped, seconds }: FileResult): string {
  const counts = [
    `${passed} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
  ];
  return `${failed === 0 ? "✔" : "✖"} ${whereOf(suite, name)}  ${counts.join(", ")} (${seconds.toFixed(1)} s)`;
}

function whereOf(suite: string, name: string): string {
  return suite.startsWith("on-") ? `${suite} ${name}` : name;
}

/** True if the last run of the file failed. */
export function hasFailed({ first, second }: Outcome): boolean {
  return (second ?? first).failed > 0;
}

export interface Results {
  outcomes: readonly Outcome[];
  /** Jobs that did not begin before the run's time was over. */
  leftOut: readonly Job[];
}

/** `keptIn` is the folder with the output of runs that failed. */
export function summary(
  { outcomes, leftOut }: Results,
  { seconds, keptIn }: { seconds: number; keptIn: string },
): string {
  const flaky = outcomes.filter((outcome) => outcome.second !== undefined && !hasFailed(outcome));
  const failed = outcomes.filter(hasFailed);
  const counts = countsOf(outcomes);
  return [
    "",
    ...flaky.flatMap(({ job, first }) => failuresOf("flaky", job, first)),
    ...failed.flatMap(({ job, first, second }) => failuresOf("failed", job, second ?? first)),
    ...(outcomes.length > SLOWEST ? slowest(outcomes) : []),
    ...suitesOf(outcomes),
    ...(flaky.length + failed.length === 0 ? [] : [`output of the runs that failed: ${keptIn}`]),
    ...(flaky.length === 0 ? [] : [`flaky, passed alone: ${flaky.map(({ job }) => job.name).join(", ")}`]),
    ...(failed.length === 0 ? [] : [`failed: ${failed.map(({ job }) => job.name).join(", ")}`]),
    ...(leftOut.length === 0 ? [] : [leftOutLine(leftOut)]),
    `all of it took ${duration(seconds)}`,
    `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
  ].join("\n");
}

function leftOutLine(jobs: readonly Job[]): string {
  return `${jobs.length} files did not run, for want of time: ${jobs.map(({ suite, name }) => whereOf(suite, name)).join(", ")}`;
}

function failuresOf(word: string, job: Job, { failures }: FileResult): string[] {
  return failures.map((failure) => `${word}: ${job.suite} ${job.name}\n${failure}`);
}

function slowest(outcomes: readonly Outcome[]): string[] {
  const files = outcomes.toSorted((a, b) => b.first.seconds - a.first.seconds).slice(0, SLOWEST);
  return [
    `the ${SLOWEST} slowest files:`,
    ...files.map(({ job, first }) => `  ${first.seconds.toFixed(1).padStart(6)} s  ${job.suite} ${job.name}`),
  ];
}

function suitesOf(outcomes: readonly Outcome[]): string[] {
  return [...new Set(outcomes.map(({ job }) => job.suite))].map((suite) => {
    const own = outcomes.filter(({ job }) => job.suite === suite);
    const { passed, failed, skipped } = countsOf(own);
    const seconds = own.reduce((sum, { first, second }) => sum + first.seconds + (second?.seconds ?? 0), 0);
    return `${suite}: ${own.length} files, ${passed} passed, ${failed} failed, ${skipped} skipped, ${duration(seconds)} in its files`;
  });
}

/** Counts the last run of each file. */
function countsOf(outcomes: readonly Outcome[]): { passed: number; failed: number; skipped: number } {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { first, second } of outcomes) {
    const { passed, failed, skipped } = second ?? first;
    counts.passed += passed;
    counts.failed += failed;
    counts.skipped += skipped;
  }
  return counts;
}

/** "45.1 s", "12 min 3 s" */
function duration(seconds: number): string {
  return seconds < 120 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
