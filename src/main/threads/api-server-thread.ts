// The thread apiserver as main runs it. The worker node-status lives in it: without this server there is nothing that
// it could do, and a thread of its own would take 8 MiB (docs/adr/0131).

import type { ApiServerControl, ApiServerInit, ApiServerUpcalls } from "../../shared/contracts/apiserver.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { spawnGuest } from "./spawn-guest.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadContext } from "./thread-context.js";
import type { NodeThread } from "./thread-host.js";

/** Changes that wait are written in this time. */
const DRAIN_MS = 10_000;

export class ApiServerThread implements NodeThread {
  readonly thread: SupervisedThread<ApiServerControl>;

  /** Call before node-status is made. */
  constructor(context: ThreadContext, init: ApiServerInit, upcalls: ApiServerUpcalls) {
    this.thread = superviseThread<ApiServerControl, ApiServerInit, ApiServerUpcalls>({
      ...context.common("apiserver"),
      init: () => init,
      upcalls,
      drainDeadlineMs: DRAIN_MS,
      onRunning: () => undefined,
      onExit: (exit) => context.exited(exit),
    });
    context.setGuest("node-status", spawnGuest(this.thread));
  }

  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}
