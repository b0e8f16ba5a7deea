// Time until a new node became ready, by stages: reported once, and only for a Node that this kubelet created.

import type { WallTime } from "../../shared/base/clock/moments.js";
import type { NodeStartup } from "./metrics.js";

export class StartupTimes {
  private firstRegistrationAt: WallTime | undefined;
  private registeredAt: WallTime | undefined;
  private isPublished = false;

  constructor(
    private readonly machineStartedAt: WallTime,
    private readonly agentStartedAt: WallTime,
    private readonly publish: (times: NodeStartup) => void,
  ) {}

  registering(at: WallTime): void {
    this.firstRegistrationAt ??= at;
  }

  /** The Node was made. */
  registered(at: WallTime): void {
    this.registeredAt ??= at;
  }

  ready(readyAt: WallTime): void {
    const { machineStartedAt, agentStartedAt, firstRegistrationAt, registeredAt } = this;
    if (this.isPublished || firstRegistrationAt === undefined || registeredAt === undefined) return;
    this.isPublished = true;
    this.publish({ machineStartedAt, agentStartedAt, firstRegistrationAt, registeredAt, readyAt });
  }
}
