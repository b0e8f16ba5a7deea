// All manifests of the file source. After a change of one file, the pods of all files are delivered as a whole set.
// Invariant: each version of a file is in a delivery; the work of a delivery, which grows with the number of files, is
// shared by the changes of many files.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { MonotonicTime } from "../../../shared/base/clock/moments.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { StaticPodUids } from "./static-pod-uids.js";

/** With fewer files each change is delivered at once. */
const FEW_FILES = 200;
/** Milliseconds between two deliveries for each file of a large folder: ten a second for 5,000 files. */
const PACE_MS = 0.02;

/** A manifest file, as the set sees it. */
interface PodsOfFile {
  readonly pods: readonly Pod[];
  /** False until the first content was accepted or refused for good. */
  readonly settled: boolean;
  readonly exists: boolean;
}

export interface ManifestSetOptions {
  uids: Pick<StaticPodUids, "deliver">;
  clock: Pick<Clock, "after" | "monotonic">;
  /** Called after each delivery. */
  onChange: () => void;
}

export class ManifestSet<File extends PodsOfFile> {
  /** By file name. */
  readonly files = new Map<string, File>();
  /** Files that changed since the last delivery. */
  private readonly waiting = new Set<File>();
  private timer: Timer | undefined;
  private deliveredAt: MonotonicTime | undefined;
  private scanned = false;
  private stopped = false;

  constructor(private readonly options: ManifestSetOptions) {}

  /** The folder was read: `files` has every file of it. */
  onScanned(): void {
    this.scanned = true;
    this.deliver();
  }

  /**
   * The pods of a file change, or it settles for the first time: `apply` makes the change. A change that waits is
   * delivered first, so that a pod whose manifest goes and comes back is removed in between.
   */
  change(file: File, apply: () => void): void {
    if (this.waiting.has(file)) this.deliver();
    apply();
    this.waiting.add(file);
    const { clock } = this.options;
    const waitMs = this.files.size < FEW_FILES ? 0 : Math.ceil(this.files.size * PACE_MS);
    const elapsed = this.deliveredAt === undefined ? Infinity : clock.monotonic() - this.deliveredAt;
    if (elapsed >= waitMs) this.deliver();
    else this.timer ??= clock.after(waitMs - elapsed, () => this.deliver());
  }

  /** Nothing is delivered afterwards. */
  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
  }

  private deliver(): void {
    if (this.stopped) return;
    const { uids, clock, onChange } = this.options;
    this.timer?.cancel();
    this.timer = undefined;
    this.waiting.clear();
    const pods: Pod[] = [];
    let settled = true;
    for (const name of [...this.files.keys()].sort()) {
      const file = this.files.get(name);
      if (file === undefined || !file.exists) continue;
      settled &&= file.settled;
      pods.push(...file.pods);
    }
    uids.deliver(pods, this.scanned && settled);
    this.deliveredAt = clock.monotonic();
    onChange();
  }
}
