// One pod's walk, in jobs of the tasks pool with rests between them: bounded jobs, so that manifests do not wait, and a part of a
// core at most, whatever a pod has written.
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { PodDiskUsage } from "../../shared/contracts/eviction.js";
import type { DirectoryUsageJob, DirectoryUsageResult } from "../../shared/contracts/tasks.js";
import { podTrees, type DiskPlaces } from "./pod-trees.js";

/** Some ten milliseconds of a pool thread. */
const FILES_PER_JOB = 5000;

export interface WalkDeps {
  places: DiskPlaces;
  /** Runs in a pool thread. */
  walk: (job: DirectoryUsageJob, signal: AbortSignal) => Promise<DirectoryUsageResult>;
  clock: Pick<Clock, "now" | "sleep">;
}

/** All walks of the node together take this part of a core. */
const SHARE = 0.1;
/** Work before a rest: small pods follow each other without one. */
const STINT_MS = 5;

/** How much was worked since the last rest. */
export class WorkBudget {
  private spentMs = 0;

  constructor(private readonly clock: Pick<Clock, "sleep">) {}

  spend(ms: number): void {
    this.spentMs += ms;
  }

  /** Rejects with the signal's reason. */
  async rest(signal: AbortSignal): Promise<void> {
    if (this.spentMs < STINT_MS) return;
    const restMs = (this.spentMs * (1 - SHARE)) / SHARE;
    this.spentMs = 0;
    await this.clock.sleep(restMs, signal);
  }
}

/** Rejects with the signal's reason, or when a job fails. */
export async function measurePod(
  pod: Pod,
  { places, walk, clock }: WalkDeps,
  budget: WorkBudget,
  signal: AbortSignal,
): Promise<PodDiskUsage> {
  const sums = podTrees(pod, places).map((tree) => ({
    tree,
    bytes: 0,
    inodes: 0,
    pending: undefined as string[] | undefined,
  }));
  let open = sums;
  while (open.length > 0) {
    await budget.rest(signal);
    const trees = open.map(({ tree: { path, itself }, pending }) => ({
      ...{ root: path, itself },
      ...(pending !== undefined && { pending }),
    }));
    const result = await walk({ trees, maxFiles: FILES_PER_JOB }, signal);
    budget.spend(result.workMs);
    for (const [index, part] of result.trees.entries()) {
      const sum = open[index];
      if (sum === undefined) continue;
      sum.bytes += part.bytes;
      sum.inodes += part.inodes;
      sum.pending = part.pending;
    }
    open = open.filter(({ pending }) => pending === undefined || pending.length > 0);
  }
  const of = (kind: string) =>
    sums
      .filter(({ tree }) => tree.kind === kind)
      .map(({ tree: { name }, bytes, inodes }) => ({ name, bytes: Math.round(bytes), inodes: Math.round(inodes) }));
  const [{ bytes, inodes } = { bytes: 0, inodes: 0 }] = of("other");
  return {
    uid: pod.metadata.uid,
    at: clock.now(),
    volumes: of("volume"),
    logs: of("log").map(({ name, ...taken }) => ({ container: name, ...taken })),
    other: { bytes, inodes },
  };
}
