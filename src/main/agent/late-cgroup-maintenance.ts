// Starts the maintenance of the node's cgroups. It begins at once if the start of the kubelet depends on it, because a missing reserved
// cgroup is fatal. Otherwise it begins a second later, when the first pods are starting. Loaded only then.

import { errorText } from "../../shared/log/error-text.js";
import type { CgroupMaintenance, CgroupMaintenanceDeps } from "./node-cgroups.js";
import type { NodeSettings } from "./node-settings.js";

const LATER_MS = 1000;

export class LateCgroupMaintenance {
  private readonly ending = new AbortController();
  private begun: Promise<void> = Promise.resolve();
  private maintenance: CgroupMaintenance | undefined;

  constructor(
    private readonly settings: NodeSettings,
    private readonly deps: CgroupMaintenanceDeps,
  ) {}

  /** @throws what startCgroupCare throws, where the start depends on it */
  async schedule(): Promise<void> {
    const { clock, log } = this.deps;
    const { resources, cgroups } = this.settings;
    if (cgroups.systemCgroups !== "" || resources.enforceNodeAllocatable.some((entry) => entry.includes("reserved"))) {
      await this.start();
      return;
    }
    this.begun = clock
      .sleep(LATER_MS, this.ending.signal)
      .then(() => this.start())
      .catch((error: unknown) => {
        if (this.ending.signal.aborted) return;
        log.error({ err: error }, `cannot maintain the node's cgroups: ${errorText(error)}`);
      });
  }

  podsChanged(): void {
    this.maintenance?.podsChanged();
  }

  async stop(): Promise<void> {
    this.ending.abort(new Error("the kubelet is stopping"));
    await this.begun;
    const { maintenance } = this;
    this.maintenance = undefined;
    await maintenance?.stop();
  }

  private async start(): Promise<void> {
    const { startCgroupMaintenance } = await import("./node-cgroups.js");
    this.maintenance = await startCgroupMaintenance(this.settings, this.deps);
  }
}
