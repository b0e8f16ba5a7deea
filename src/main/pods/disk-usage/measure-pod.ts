// One pod's walk, in jobs of the tasks pool with rests between them. The jobs are bounded, so that manifests do not
// wait. For any files of a pod, the walk uses at most a part of a core. Where a job ended is handed to the next one as
// bytes that main does not look into.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { PodDiskUsage } from "../../../shared/contracts/eviction.js";
import type { DirectoryUsageJob, DirectoryUsageResult } from "../../../shared/contracts/tasks.js";
import { type Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { type DiskPlaces, type PodTree, podTrees } from "./pod-trees.js";

/** Some ten milliseconds of a pool thread, or, when the disk is slow, fewer files. */
const FILES_PER_JOB = 5000;
const MS_PER_JOB = 100;

export interface WalkDeps {
  places: DiskPlaces;
  /** Runs in a pool thread. */
  walk: (job: DirectoryUsageJob, uid: PodUid, signal: AbortSignal) => Promise<DirectoryUsageResult>;
  /** A directory's usage as its file system counts it; undefined: walk it. */
  quota: (directory: string) => Promise<{ bytes: number; inodes: number } | undefined>;
  clock: Pick<Clock, "now" | "sleep">;
}

/** All walks of the node together take this part of a core. */
const SHARE = 0.1;
/** Work before a rest: small pods follow each other without one. */
const STINT_MS = 5;

/** The working time since the last pause. */
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

interface Sum {
  readonly tree: PodTree;
  bytes: number;
  inodes: number;
  place: Uint8Array | undefined;
  done: boolean;
  apart?: boolean;
}

/** Repeat `step` until the walk is done; other pods' steps may come between. */
export class PodWalk {
  private readonly sums: readonly Sum[];
  private askedQuotas = false;

  constructor(
    private readonly pod: Pod,
    private readonly deps: WalkDeps,
  ) {
    const begin = { bytes: 0, inodes: 0, place: undefined, done: false };
    this.sums = podTrees(pod, deps.places).map((tree) => ({ tree, ...begin }));
  }

  get done(): boolean {
    return this.sums.every(({ done }) => done);
  }

  /** One job, after the rest that is due. Rejects with the signal's reason, or when the job fails. */
  async step(budget: WorkBudget, signal: AbortSignal): Promise<void> {
    if (!this.askedQuotas) await this.askQuotas();
    await budget.rest(signal);
    const open = this.sums.filter(({ done }) => !done);
    const trees = open.map(({ tree: { path, itself }, place }) =>
      omitUndefined<DirectoryUsageJob["trees"][number]>({
        root: path,
        itself,
        place,
      }),
    );
    const job = { trees, maxFiles: FILES_PER_JOB, maxMs: MS_PER_JOB };
    const result = await this.deps.walk(job, this.pod.metadata.uid, signal);
    budget.spend(result.workMs);
    for (const [index, part] of result.trees.entries()) {
      const sum = open[index];
      if (sum === undefined) continue;
      sum.bytes += part.bytes;
      sum.inodes += part.inodes;
      sum.place = part.place;
      sum.done = part.done;
      if (part.apart === true) sum.apart = true;
    }
  }

  /** Volumes with a quota need no walk. */
  private async askQuotas(): Promise<void> {
    this.askedQuotas = true;
    for (const sum of this.sums) {
      const counted = sum.tree.kind === "volume" ? await this.deps.quota(sum.tree.path) : undefined;
      if (counted !== undefined) Object.assign(sum, { ...counted, done: true });
    }
  }

  /** The usage found. */
  usage(): PodDiskUsage {
    const total = (one: "bytes" | "inodes"): number => this.of("other").reduce((sum, part) => sum + part[one], 0);
    return {
      uid: this.pod.metadata.uid,
      at: this.deps.clock.now(),
      volumes: this.of("volume"),
      logs: this.of("log").map(({ name, bytes, inodes }) => ({ container: name, bytes, inodes })),
      other: { bytes: total("bytes"), inodes: total("inodes") },
    };
  }

  private of(kind: PodTree["kind"]): PodDiskUsage["volumes"] {
    return this.sums
      .filter(({ tree }) => tree.kind === kind)
      .map(({ tree: { name }, bytes, inodes, apart }) =>
        omitUndefined({ name, bytes: Math.round(bytes), inodes: Math.round(inodes), apart }),
      );
  }
}
