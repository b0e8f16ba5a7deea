// Writes the limits of node allocatable and reports the result.
// Invariant: the kubelet does not start without the limits of the reserved cgroups, because the operator relies on
// them. The pods' limit is tried again every minute. The kernel accepts it only after the eviction of pods that use
// more.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import type { CgroupManager } from "../cgroups/cgroup-manager.js";
import type { Enforcement, ReservedCgroup } from "./enforcement.js";

const AGAIN_MS = 60_000;

export interface EnforcerDeps {
  cgroups: Pick<CgroupManager, "limitPods" | "limitExisting">;
  events: Pick<EventRecorder, "node">;
  clock: Clock;
  log: Logger;
  enforcement: Enforcement;
  /** Elements of the pods' cgroup: ["kubepods"]; [] when it is the root of all, which has no limits. */
  podsCgroup: readonly string[];
}

export class AllocatableEnforcer {
  private readonly lifetime = new Lifetime();
  private retrying: Promise<void> = Promise.resolve();

  constructor(private readonly deps: EnforcerDeps) {}

  /** @throws OperatorError */
  async enforceReserved(): Promise<void> {
    const { cgroups, events, enforcement } = this.deps;
    for (const reserved of enforcement.reserved) {
      const { part, cgroup, limits } = reserved;
      try {
        await cgroups.limitExisting(cgroup, limits);
      } catch (error) {
        const message = `Failed to enforce ${nameOf(reserved)} Cgroup Limits on ${JSON.stringify(cgroup)}: ${errorText(error)}`;
        events.node({ type: "Warning", reason: "FailedNodeAllocatableEnforcement", message });
        throw new OperatorError(message, { cause: error });
      }
      const message = `Updated limits on ${part.toLowerCase()} reserved cgroup ${cgroup}`;
      events.node({ type: "Normal", reason: "NodeAllocatableEnforced", message });
    }
  }

  /** The first try begins at once. */
  startPods(): void {
    if (this.deps.podsCgroup.length === 0) return;
    this.retrying = this.enforcePods();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.retrying;
  }

  private async enforcePods(): Promise<void> {
    const { cgroups, events, clock, log, enforcement, podsCgroup } = this.deps;
    const { signal } = this.lifetime;
    while (!signal.aborted) {
      try {
        await cgroups.limitPods(enforcement.pods);
        const message = "Updated Node Allocatable limit across pods";
        events.node({ type: "Normal", reason: "NodeAllocatableEnforced", message });
        return;
      } catch (error) {
        const name = `[${podsCgroup.map((element) => JSON.stringify(element)).join(" ")}]`;
        const message = `Failed to update Node Allocatable Limits ${name}: ${errorText(error)}`;
        events.node({ type: "Warning", reason: "FailedNodeAllocatableEnforcement", message });
        log.debug({ err: error }, "trying the limits of node allocatable again in a minute");
      }
      await clock.sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  }
}

function nameOf({ part, compressible }: ReservedCgroup): string {
  return `${part} Reserved${compressible ? " Compressible" : ""}`;
}
