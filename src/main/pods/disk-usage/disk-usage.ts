// Disk usage of pods for the eviction thread and the stats pages. Each figure carries its time; a walk starts only when
// a caller requests newer figures.
// Invariant: one job at a time, for any number of callers. Pods take turns by jobs, so that a pod with a million files
// delays the others by one job each. A removed pod is walked no further, and its figures are deleted. No caller waits
// longer than its own limit; the walk continues for the next caller.

import { StoppingError } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import type { PodDiskUsage } from "../../../shared/contracts/eviction.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { PodWalk, WorkBudget, type WalkDeps } from "./measure-pod.js";

/** Time for which a caller waits for walks, unless it sets its own. */
const PATIENCE_MS = 2000;

export interface DiskUsageDeps extends WalkDeps {
  /** undefined: no such pod here. */
  pod(uid: PodUid): Pod | undefined;
  clock: Pick<Clock, "now" | "monotonic" | "after" | "sleep">;
  log: Pick<Logger, "warn">;
}

interface Kept {
  usage: PodDiskUsage;
  /** Monotonic. */
  measuredAt: number;
}

interface Waiting {
  done: Promise<void>;
  finish: () => void;
  /** Once it is begun. */
  walk?: PodWalk;
}

export class DiskUsage {
  private readonly kept = new Map<PodUid, Kept>();
  /** Pods to be walked: the first one has the next job. */
  private readonly queue = new Map<PodUid, Waiting>();
  private walking: { uid: PodUid; abort: AbortController } | undefined;
  private running: Promise<void> | undefined;
  private readonly budget: WorkBudget;
  private stopped = false;

  constructor(private readonly deps: DiskUsageDeps) {
    this.budget = new WorkBudget(deps.clock);
  }

  /**
   * The newest figures there are of these pods; pods without any are left out. Those older than `maxAgeMs` are measured
   * anew, and waited for up to `patienceMs` (0: not at all). Never rejects.
   */
  async of(uids: readonly PodUid[], maxAgeMs: number, patienceMs = PATIENCE_MS): Promise<PodDiskUsage[]> {
    const due = uids.filter((uid) => this.isOlder(uid, maxAgeMs) && this.deps.pod(uid) !== undefined);
    if (!this.stopped && due.length > 0) {
      const walks = due.map((uid) => this.enqueue(uid));
      this.running ??= this.walkAll();
      if (patienceMs > 0) await this.within(patienceMs, walks);
    }
    return uids.flatMap((uid) => this.kept.get(uid)?.usage ?? []);
  }

  podRemoved(uid: PodUid): void {
    this.kept.delete(uid);
    this.queue.get(uid)?.finish();
    this.queue.delete(uid);
    if (this.walking?.uid === uid) this.walking.abort.abort(new Error(`pod ${uid} was removed`));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    for (const { finish } of this.queue.values()) finish();
    this.queue.clear();
    this.walking?.abort.abort(new StoppingError());
    await this.running;
  }

  private isOlder(uid: PodUid, maxAgeMs: number): boolean {
    const known = this.kept.get(uid);
    return known === undefined || this.deps.clock.monotonic() - known.measuredAt > maxAgeMs;
  }

  /** Settles when the pod was measured, or will not be. */
  private enqueue(uid: PodUid): Promise<void> {
    const known = this.queue.get(uid);
    if (known !== undefined) return known.done;
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    this.queue.set(uid, { done, finish });
    return done;
  }

  private async within(patienceMs: number, walks: readonly Promise<void>[]): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.deps.clock.after(patienceMs, resolve);
      void Promise.all(walks).then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  private async walkAll(): Promise<void> {
    for (let next = this.next(); next !== undefined; next = this.next()) {
      const [uid, waiting] = next;
      const over = await this.step(uid, waiting);
      // Removed meanwhile, and perhaps requested again.
      if (this.queue.get(uid) !== waiting) continue;
      this.queue.delete(uid);
      if (over) waiting.finish();
      else this.queue.set(uid, waiting);
    }
    this.running = undefined;
  }

  private next(): [PodUid, Waiting] | undefined {
    const [first] = this.queue;
    return first;
  }

  /** One job of the pod's walk; returns whether it was the last one. */
  private async step(uid: PodUid, waiting: Waiting): Promise<boolean> {
    const { deps } = this;
    const pod = deps.pod(uid);
    if (pod === undefined) return true;
    const abort = new AbortController();
    this.walking = { uid, abort };
    try {
      waiting.walk ??= new PodWalk(pod, deps);
      await waiting.walk.step(this.budget, abort.signal);
      if (abort.signal.aborted) return true;
      if (!waiting.walk.done) return false;
      this.kept.set(uid, { usage: waiting.walk.usage(), measuredAt: deps.clock.monotonic() });
    } catch (error) {
      if (abort.signal.aborted) return true;
      const { name, namespace } = pod.metadata;
      deps.log.warn(
        { err: error, uid },
        `cannot measure the disk usage of pod ${name}_${namespace}(${uid}): ${errorText(error)}; using its last values`,
      );
    } finally {
      this.walking = undefined;
    }
    return true;
  }
}
