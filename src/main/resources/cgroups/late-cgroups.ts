// A cgroup manager that is still being created. Its driver depends on the runtime's reply, and the node can observe
// pods before that. Every call waits until the manager exists and its tree is set up.

import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { CgroupManager, PodCgroup } from "./cgroup-manager.js";
import type { CgroupLimits } from "./cgroup-values.js";

export class LateCgroups implements CgroupManager {
  private readonly ready: Promise<CgroupManager>;

  constructor(
    readonly version: 1 | 2,
    made: Promise<CgroupManager>,
  ) {
    this.ready = made.then(async (manager) => {
      await manager.setUp();
      return manager;
    });
    // Callers that await the tree see the error, setUp() first of all.
    this.ready.catch(() => undefined);
  }

  /** Resolves when the tree is there; it is set up in any case. */
  async setUp(): Promise<void> {
    await this.ready;
  }

  async ensurePod(pod: Pod, sized?: Pod): Promise<PodCgroup> {
    return await (await this.ready).ensurePod(pod, sized);
  }

  async podExists(uid: PodUid): Promise<boolean> {
    return await (await this.ready).podExists(uid);
  }

  async isLost(pod: Pod): Promise<boolean> {
    return await (await this.ready).isLost(pod);
  }

  async removePod(uid: PodUid): Promise<void> {
    await (await this.ready).removePod(uid);
  }

  async listPods(): Promise<PodUid[]> {
    return await (await this.ready).listPods();
  }

  async updateQos(pods: readonly Pod[], trusting?: boolean): Promise<void> {
    await (await this.ready).updateQos(pods, trusting);
  }

  async limitPods(limits: CgroupLimits): Promise<void> {
    await (await this.ready).limitPods(limits);
  }

  async limitExisting(cgroup: string, limits: CgroupLimits): Promise<void> {
    await (await this.ready).limitExisting(cgroup, limits);
  }

  async tearDown(): Promise<void> {
    await (await this.ready).tearDown();
  }
}
