// Checks that the containers of a pod are still in the pod's cgroup. A process may have removed or moved it, or the
// kubelet was started with cgroupsPerQOS while the pod ran without. A sandbox that has lost it is not used any more,
// even if the cgroup is found later.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { ObservedPod } from "../../../shared/kubernetes/cri/observed-pod.js";
import { isAlive } from "../../model/observed-containers.js";

/** A check costs a few calls to the kernel, and passes follow each other closely while a pod starts. */
const EVERY_MS = 10000;

export class CgroupWatch {
  private lookedAt: number | undefined;
  private lostBy: string | undefined;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly isLost: (pod: Pod) => Promise<boolean>,
  ) {}

  async check(pod: Pod, { sandboxes, containers }: ObservedPod): Promise<boolean> {
    const sandbox = sandboxes[0]?.id;
    if (sandbox === undefined) return false;
    if (this.lostBy === sandbox) return true;
    const now = this.clock.monotonic();
    const runs = containers.some(isAlive);
    // A pod that this kubelet starts gets a new cgroup, so no check is due.
    if (!runs) this.lookedAt = now;
    if (!runs || (this.lookedAt !== undefined && now - this.lookedAt < EVERY_MS)) return false;
    this.lookedAt = now;
    if (!(await this.isLost(pod))) return false;
    this.lostBy = sandbox;
    return true;
  }
}
