// The runtime's process, found by its socket and cached while it runs.

import type { Clock } from "../../../../shared/base/clock/clock.js";
import { InvalidEndpointError, parseEndpoint } from "../../../../shared/kubernetes/cri/endpoint.js";
import { type ReadText } from "../../../../shared/node/stats/kernel-file.js";
import { socketOwner } from "./socket-owner.js";

/** One that was not found is looked for again. */
const LOOK_PERIOD_MS = 60_000;

export class RuntimeProcess {
  private found: { pid: number; name: string } | undefined;
  private lookedAt: number | undefined;

  constructor(
    private readonly endpoint: string,
    private readonly read: ReadText,
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly owner: (socket: string, read: ReadText) => number | undefined = socketOwner,
  ) {}

  pid(): number | undefined {
    if (this.found !== undefined && this.nameOf(this.found.pid) !== this.found.name) {
      this.found = undefined;
      this.lookedAt = undefined;
    }
    const now = this.clock.monotonic();
    if (this.found === undefined && (this.lookedAt === undefined || now - this.lookedAt >= LOOK_PERIOD_MS)) {
      this.lookedAt = now;
      const pid = this.findOwner();
      const name = pid === undefined ? undefined : this.nameOf(pid);
      this.found = pid === undefined || name === undefined ? undefined : { pid, name };
    }
    return this.found?.pid;
  }

  private findOwner(): number | undefined {
    try {
      return this.owner(parseEndpoint(this.endpoint).path, this.read);
    } catch (error) {
      if (error instanceof InvalidEndpointError) return undefined;
      throw error;
    }
  }

  private nameOf(pid: number): string | undefined {
    return this.read(`/proc/${pid}/comm`);
  }
}
