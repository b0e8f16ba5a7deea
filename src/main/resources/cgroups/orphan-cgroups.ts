// Cgroups of pods of which nothing else is left on this machine: no directory, no log, nothing in the runtime. A
// kubelet that was killed, or a runtime that was, leaves them by the hundred.
// Invariant: one is removed at a time, so that pods that start meanwhile do not wait behind them; before each removal
// the UID is checked again, and a cgroup of a pod that is wanted by then stays.

import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { CgroupManager } from "./cgroup-manager.js";

export interface OrphanCgroupsDeps {
  cgroups: Pick<CgroupManager, "removePod">;
  /** The pod has a pod worker, or the runtime has a sandbox or container of it. */
  isKnown: (uid: PodUid) => boolean;
  log: Logger;
}

export class OrphanCgroups {
  private readonly waiting = new Set<PodUid>();
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly deps: OrphanCgroupsDeps) {}

  /**
   * Removes them one after the other, later. One that can't be removed is logged, and tried again when it is found
   * again.
   */
  add(uids: Iterable<PodUid>): void {
    if (this.stopped) return;
    for (const uid of uids) this.waiting.add(uid);
    if (this.waiting.size === 0) return;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Resolves when nothing is left to remove. */
  async idle(): Promise<void> {
    await this.running;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.waiting.clear();
    await this.running;
  }

  private async run(): Promise<void> {
    const { cgroups, isKnown, log } = this.deps;
    let removed = 0;
    for (const uid of this.waiting) {
      try {
        if (isKnown(uid)) continue;
        await cgroups.removePod(uid);
        removed++;
      } catch (error) {
        log.warn({ uid, err: error }, `cannot remove the cgroup of orphaned pod ${uid}: ${errorText(error)}`);
      } finally {
        this.waiting.delete(uid);
      }
    }
    if (removed > 0) log.info({ removed }, `removed the cgroups of ${removed} orphaned pods`);
  }
}
