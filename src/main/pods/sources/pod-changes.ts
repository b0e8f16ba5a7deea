// The deliveries of all pod sources, merged and passed to the syncLoop as one ordered stream of changes.
// Invariant: a round of the event loop has MOST_AT_ONCE changes at most, so that a list of thousands of pods leaves
// time for others; changes keep their order, and the sources count as seen when all changes of their sets have been
// passed on.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { LoopYield } from "../../../shared/base/queue/loop-yield.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { PodMerger, type Delivery, type PodChange, type PodSourceName } from "./merge.js";

/** The syncLoop, as the sources see it: SyncLoop (sync/sync-loop.ts) implements it. */
export interface PodChangeLoop {
  /** Called once per change, in order; never during the start itself. */
  onPodChange(change: PodChange): void;
  /** Called once, when every configured source has delivered a whole set (after the changes of that set). */
  onSourcesSeen(): void;
  /** Called once, when the sources of static pods have delivered whole sets; only with an API server. */
  onStaticSourcesSeen(): void;
}

export interface PodChangesDeps {
  /** The configured sources; the first of two that claim a UID wins. */
  sources: readonly PodSourceName[];
  loop: PodChangeLoop;
  clock: Pick<Clock, "nowNanos">;
  log: Logger;
}

/** Each takes some tens of microseconds. @internal */
export const MOST_AT_ONCE = 200;

export class PodChanges {
  private readonly merger: PodMerger;
  private readonly conflicts = new Set<string>();
  /** Changes for later rounds. */
  private readonly queue: PodChange[] = [];
  private readonly rounds = new LoopYield();
  private passed = 0;
  private stopped = false;
  private announced = false;
  private staticAnnounced: boolean;

  constructor(private readonly deps: PodChangesDeps) {
    this.merger = new PodMerger(deps.sources, () => deps.clock.nowNanos());
    this.staticAnnounced = !deps.sources.includes("api");
  }

  allSourcesSeen(): boolean {
    return this.queue.length === 0 && this.merger.allSourcesSeen();
  }

  /** All pods known now, in the order in which they were first delivered. */
  pods(): Pod[] {
    return this.merger.pods();
  }

  /** The source whose pod of this UID counts. */
  sourceOf(uid: PodUid): PodSourceName | undefined {
    return this.merger.sourceOf(uid);
  }

  /** Takes a source's whole set; `complete` as PodMerger.deliver has it. */
  deliver(source: PodSourceName, pods: readonly Pod[], complete: boolean): void {
    if (!this.stopped) this.pass(this.merger.deliver(source, pods, complete));
  }

  /** One pod of a source came or changed. */
  set(source: PodSourceName, pod: Pod): void {
    if (!this.stopped) this.pass(this.merger.set(source, pod));
  }

  /** One pod of a source was removed. */
  drop(source: PodSourceName, uid: PodUid): void {
    if (!this.stopped) this.pass(this.merger.drop(source, uid));
  }

  /** Reports to the loop, once, that the sources have delivered. */
  announce(): void {
    const { loop } = this.deps;
    if (this.stopped || this.queue.length > 0) return;
    if (!this.staticAnnounced && this.merger.staticSourcesSeen()) {
      this.staticAnnounced = true;
      loop.onStaticSourcesSeen();
    }
    if (this.announced || !this.merger.allSourcesSeen()) return;
    this.announced = true;
    loop.onSourcesSeen();
  }

  /** No change is passed on afterwards. */
  stop(): void {
    this.stopped = true;
  }

  private pass({ changes, conflicts }: Delivery): void {
    const { log } = this.deps;
    const isIdle = this.queue.length === 0;
    for (const change of changes) this.queue.push(change);
    for (const { uid, source, pod } of conflicts) {
      const key = `${source} ${uid} ${pod}`;
      if (this.conflicts.has(key)) continue;
      this.conflicts.add(key);
      log.error({ uid, source, pod }, `pod ${pod} from ${source} has the UID ${uid} of another pod; ignoring it`);
    }
    if (isIdle) this.passSome();
  }

  private passSome(): void {
    const { loop } = this.deps;
    if (this.stopped) return;
    const end = Math.min(this.queue.length, this.passed + MOST_AT_ONCE);
    while (this.passed < end) {
      const change = this.queue[this.passed++];
      if (change !== undefined) loop.onPodChange(change);
    }
    if (this.passed < this.queue.length) {
      this.rounds.next(() => this.passSome());
      return;
    }
    this.queue.length = this.passed = 0;
    this.announce();
  }
}
