// Time until a new node became ready, by stages: reported once, and only for a Node that this kubelet created.

import type { NodeStartup } from "./metrics.js";

export class StartupTimes {
  private firstRegistrationAt: number | undefined;
  private registeredAt: number | undefined;
  private isPublished = false;

  /** Wall times, ms. */
  constructor(
    private readonly machineStartedAt: number,
    private readonly agentStartedAt: number,
    private readonly publish: (times: NodeStartup) => void,
  ) {}

  registering(at: number): void {
    this.firstRegistrationAt ??= at;
  }

  /** The Node was made. */
  registered(at: number): void {
    this.registeredAt ??= at;
  }

  ready(readyAt: number): void {
    const { machineStartedAt, agentStartedAt, firstRegistrationAt, registeredAt } = this;
    if (this.isPublished || firstRegistrationAt === undefined || registeredAt === undefined) return;
    this.isPublished = true;
    this.publish({ machineStartedAt, agentStartedAt, firstRegistrationAt, registeredAt, readyAt });
  }
}
