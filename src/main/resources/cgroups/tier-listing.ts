// Which cgroups of pods exist, for pods whose place this kubelet does not know. A start may take over thousands of pods
// that ended long ago: to try the removal of each in every class and hierarchy takes tens of system calls per pod, and
// all of the thread pool.
// Invariant: a listing begins after the request that it answers; requests that wait share one.

import { sharedRead } from "../../../shared/base/turns/shared-read.js";
import type { CgroupName } from "../../../shared/node/cgroup/name.js";

export class TierListing {
  /** The children of all classes, each as `keyOf` names it. Rejects when they cannot be read. */
  readonly children = sharedRead(() => this.read());

  constructor(
    private readonly list: (tier: CgroupName) => Promise<readonly string[]>,
    private readonly tiers: () => readonly CgroupName[],
  ) {}

  private async read(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (const tier of this.tiers()) for (const child of await this.list(tier)) found.add(keyOf(tier, child));
    return found;
  }
}

/** `child`: name of its directory. */
export function keyOf(tier: CgroupName, child: string): string {
  return `${tier.join("/")}/${child}`;
}
