// The order of the files. Lanes take files side by side; files that measure or exhaust the machine, and second runs of
// files that failed, come last and alone.
// Invariant: every job runs at least once; a job runs a second time only if its first run failed.

import type { Job } from "./selection.js";
import type { LaneKind } from "./suites.js";

/** Files that measure or exhaust the machine: each runs while no other file does. */
const ALONE: readonly { part: string; reason: string }[] = [
  { part: "hostile/", reason: "measures delays of the main thread and of probes" },
  { part: "integration/eviction", reason: "asserts which pods use most memory and disk of the machine" },
  { part: "faults/full-runtime", reason: "measures delays of the main thread" },
  { part: "faults/eviction", reason: "fills memory or disk of the machine" },
  { part: "cluster/pod-cost", reason: "counts calls, to which a busy machine adds" },
];
/** Files that take minutes begin first: otherwise a lane ends long after the others, and processors are idle. */
const LONGEST: readonly string[] = [
  ...["vm/node", "vm/quick-start-12", "vm/quick-start-13", "vm/release", "simulation/races"],
  "simulation/simulation",
  ...["faults/churn", "cluster/own-api", "integration/why-cases", "integration/status-page-layout"],
  ...["cluster/dynamic-config", "faults/dynamic-config", "faults/threads", "integration/pod-security"],
  ...["faults/dynamic-resources", "integration/nodelet-apply", "integration/status-page", "faults/cluster-credentials"],
  ...["faults/hung-volumes-cluster", "integration/flex-volumes", "integration/pod-deadlines", "integration/docs"],
  ...["integration/tracing", "faults/sub-path-race", "integration/pod-adoption", "faults/cluster-unruly"],
  ...["integration/nodelet-why", "integration/site", "integration/support-bundle", "cluster/in-tree-volumes"],
  ...["faults/uncaught", "faults/server-threads"],
];
/** More failures than this are no flakes; a second run would only take time. */
export const MOST_RETRIES = 10;

function runsAlone({ name }: Job): boolean {
  return ALONE.some(({ part }) => name.startsWith(part));
}

/**
 * The jobs that may run side by side, in the order in which lanes take them; and those that run alone afterwards. On a
 * slow machine the longest come last: where time is short, many files run and few are left out.
 */
export function plan(jobs: readonly Job[], isSlow: boolean): { together: Job[]; alone: Job[] } {
  const together = jobs.filter((job) => !runsAlone(job));
  const place = ({ name }: Job): number => {
    const at = LONGEST.indexOf(name);
    if (isSlow) return at < 0 ? 0 : LONGEST.length - at;
    return at < 0 ? LONGEST.length : at;
  };
  return { together: together.toSorted((a, b) => place(a) - place(b)), alone: jobs.filter(runsAlone) };
}

/** The failed jobs to run once more, alone: none if one file was chosen, or if too many failed. */
export function retries(jobs: readonly Job[], failed: readonly Job[]): readonly Job[] {
  return jobs.length > 1 && failed.length <= MOST_RETRIES ? failed : [];
}

/** Kinds with containers. Most files have one of them; the lanes of the others run one after the other. */
const RUNTIMES: readonly LaneKind[] = ["containerd", "containerd2", "docker", "node22", "installed-node"];

/** Stages, one after the other; the lanes of a stage run side by side. */
export type Chain = readonly (readonly LaneKind[])[];

/**
 * The lanes of all jobs that run side by side, as chains that begin at once. Lanes of the runtime that most files have
 * follow the machines and the variants, for the files that still wait: otherwise up to a half of the processors' time
 * is idle then. Emulated machines take as much as two lanes: on a slow machine they follow the variants.
 */
export function planLanes(
  jobs: readonly Job[],
  { processors, isSlow }: { processors: number; isSlow: boolean },
): Chain[] {
  const files = new Map<LaneKind, number>();
  for (const { lane } of jobs.filter((job) => !runsAlone(job))) files.set(lane, (files.get(lane) ?? 0) + 1);
  const count = (kind: LaneKind): number => files.get(kind) ?? 0;
  const [most, ...variants] = RUNTIMES.filter((kind) => files.has(kind)).toSorted((a, b) => count(b) - count(a));
  const lanes = (kind: LaneKind, atMost: number): LaneKind[] =>
    Array.from({ length: Math.min(count(kind), atMost) }, () => kind);
  const further = (lanes: number): LaneKind[][] =>
    most === undefined ? [] : [Array.from({ length: lanes }, () => most)];
  const after = (stages: LaneKind[][], lanes: number): Chain[] =>
    stages.length === 0 ? [] : [[...stages, ...further(lanes)]];
  const machines = lanes("machine", 1).map((kind) => [kind]);
  // All at once would get too little of two processors.
  const inTurn = variants.map((kind) => [kind]);
  return [
    // Unit tests leave a part of a processor idle: they start processes, and wait for timers.
    ...lanes("plain", processors + 1).map((kind) => [[kind]]),
    // Tests with containers mostly wait.
    ...(most === undefined ? [] : lanes(most, Math.max(2, processors)).map((kind) => [[kind]])),
    ...(isSlow ? after([...inTurn, ...machines], 1) : [...after(machines, 2), ...after(inTurn, 1)]),
  ];
}
