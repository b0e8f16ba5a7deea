// CPU and memory of the containers since the page was opened: the node keeps no history of pods. Invariant: bounded by
// the pods that are there.

import type { PodUsage } from "../shared/contracts/status-page.js";

/** What the containers of one pod used at a moment. */
export interface PodSample extends Pick<PodUsage, "containers"> {
  at: number;
}

const PERIOD_MS = 5000;
/** 15 minutes. */
const MOST = 180;

export class UsageHistory {
  private readonly pods = new Map<string, PodSample[]>();
  private lastAt = -Infinity;

  /** Takes what all pods use now, by UID, at most once in PERIOD_MS. */
  take(now: number, usages: readonly (readonly [uid: string, usage: PodUsage | undefined])[]): void {
    if (now - this.lastAt < PERIOD_MS) return;
    this.lastAt = now;
    const there = new Set(usages.map(([uid]) => uid));
    for (const uid of [...this.pods.keys()]) if (!there.has(uid)) this.pods.delete(uid);
    for (const [uid, usage] of usages) {
      if (usage === undefined) continue;
      const samples = this.pods.get(uid) ?? [];
      samples.push({ at: now, containers: usage.containers });
      if (samples.length > MOST) samples.shift();
      this.pods.set(uid, samples);
    }
  }

  of(uid: string): readonly PodSample[] {
    return this.pods.get(uid) ?? [];
  }
}
