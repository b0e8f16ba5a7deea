// The order of the files. Lanes take files side by side; files that measure or exhaust the machine, and second runs of files that failed, come
// last and alone.
// Invariant: every job runs at least once; a job runs a second time only if its first run failed.

import type { Job } from "./selection.js";

/** Files that measure or exhaust the machine: each runs while no other file does. */
const ALONE: readonly { part: string; reason: string }[] = [
  { part: "hostile/", reason: "measures delays of the main thread and of probes" },
  { part: "integration/eviction", reason: "asserts which pods use most memory and disk of the machine" },
  { part: "faults/full-runtime", reason: "measures delays of the main thread" },
  { part: "faults/eviction", reason: "fills memory or disk of the machine" },
];
/** More failures than this are no flakes; a second run would only take time. */
export const MOST_RETRIES = 10;

function runsAlone({ name }: Job): boolean {
  return ALONE.some(({ part }) => name.startsWith(part));
}

/** The jobs that may run side by side, in the order in which lanes take them; and those that run alone afterwards. */
export function plan(jobs: readonly Job[]): { together: Job[]; alone: Job[] } {
  return { together: jobs.filter((job) => !runsAlone(job)), alone: jobs.filter(runsAlone) };
}

/** The failed jobs to run once more, alone: none if one file was chosen, or if too many failed. */
export function retries(jobs: readonly Job[], failed: readonly Job[]): readonly Job[] {
  return jobs.length > 1 && failed.length <= MOST_RETRIES ? failed : [];
}

/** Kinds whose lanes run one after the other: beside all others at once, emulated machines would get too little of two processors. */
export const IN_TURN: readonly Job["lane"][] = ["containerd2", "docker"];

/** How many lanes of each kind run side by side on a machine with `processors`: tests with containers mostly wait. */
export function laneCounts(jobs: readonly Job[], processors: number): Map<Job["lane"], number> {
  const counts = new Map<Job["lane"], number>();
  for (const { lane } of jobs.filter((job) => !runsAlone(job))) counts.set(lane, (counts.get(lane) ?? 0) + 1);
  for (const [lane, files] of counts) counts.set(lane, Math.min(files, mostLanes(lane, processors)));
  return counts;
}

function mostLanes(lane: Job["lane"], processors: number): number {
  if (lane === "plain") return processors;
  return lane === "containerd" ? Math.max(2, processors) : 1;
}
