// The deliveries of all pod sources, merged and passed to the syncLoop as one ordered stream of changes.
import type { Pod } from "../../shared/api/pod.js";
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";
import { PodMerger, type Delivery, type PodChange, type PodSourceName } from "./merge.js";

/** The syncLoop, as the sources see it: SyncLoop (sync/sync-loop.ts) implements it. */
export interface PodChangeLoop {
  /** Called once per change, in order; never during startSources itself. */
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

export class PodChanges {
  private readonly merger: PodMerger;
  private readonly conflicts = new Set<string>();
  private stopped = false;
  private announced = false;
  private staticAnnounced: boolean;

  constructor(private readonly deps: PodChangesDeps) {
    this.merger = new PodMerger(deps.sources, () => deps.clock.nowNanos());
    this.staticAnnounced = !deps.sources.includes("api");
  }

  allSourcesSeen(): boolean {
    return this.merger.allSourcesSeen();
  }

  /** All pods known now, in the order in which they were first delivered. */
  pods(): Pod[] {
    return this.merger.pods();
  }

  /** The source whose pod of this UID counts. */
  sourceOf(uid: string): PodSourceName | undefined {
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
  drop(source: PodSourceName, uid: string): void {
    if (!this.stopped) this.pass(this.merger.drop(source, uid));
  }

  /** Reports to the loop, once, that the sources have delivered. */
  announce(): void {
    const { loop } = this.deps;
    if (this.stopped) return;
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
    const { loop, log } = this.deps;
    for (const change of changes) loop.onPodChange(change);
    for (const { uid, source, pod } of conflicts) {
      const key = `${source} ${uid} ${pod}`;
      if (this.conflicts.has(key)) continue;
      this.conflicts.add(key);
      log.error({ uid, source, pod }, `pod ${pod} from ${source} has the UID ${uid} of another pod; ignoring it`);
    }
    this.announce();
  }
}
