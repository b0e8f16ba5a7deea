// Updates the QoS cgroups when pods are added, changed or removed, after a short delay. It also updates them every
// minute, because another process may have changed the values. Only the periodic update reads values that should not
// have changed.
// Invariant: one update at a time; changes that arrive together cause one update.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { CgroupManager } from "./cgroup-manager.js";

const PERIOD_MS = 60_000;
/** A burst of pods comes within this. */
const SETTLE_MS = 200;

export interface QosUpdatesDeps {
  cgroups: Pick<CgroupManager, "updateQos">;
  /** Pods that were admitted and are not over, as allocated. */
  pods: () => readonly Pod[];
  clock: Clock;
  log: Logger;
}

export class QosUpdates {
  private period: Timer | undefined;
  private settling: Timer | undefined;
  private running: Promise<void> | undefined;
  private again: "trusting" | "looking" | undefined;
  private stopped = false;

  constructor(private readonly deps: QosUpdatesDeps) {}

  start(): void {
    this.period = this.deps.clock.every(PERIOD_MS, () => this.update(false));
    this.changed();
  }

  /** A pod was added or removed, or its granted resources changed. */
  changed(): void {
    if (this.stopped || this.period === undefined) return;
    this.settling ??= this.deps.clock.after(SETTLE_MS, () => {
      this.settling = undefined;
      this.update(true);
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.again = undefined;
    this.period?.cancel();
    this.settling?.cancel();
    await this.running;
  }

  private update(trusting: boolean): void {
    if (this.stopped) return;
    if (this.running !== undefined) {
      this.again = trusting && this.again !== "looking" ? "trusting" : "looking";
      return;
    }
    this.running = this.write(trusting).finally(() => {
      this.running = undefined;
      const { again } = this;
      this.again = undefined;
      if (again !== undefined) this.update(again === "trusting");
    });
  }

  private async write(trusting: boolean): Promise<void> {
    const { cgroups, pods, log } = this.deps;
    try {
      await cgroups.updateQos(pods(), trusting);
    } catch (error) {
      log.warn(
        { err: error },
        `cannot update the QoS cgroups, next try within ${PERIOD_MS / 1000} s: ${errorText(error)}`,
      );
    }
  }
}
