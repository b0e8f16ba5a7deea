// The apiserver thread as main runs it, with --api-server-port.

import type { ApiServerControl, ApiServerInit, ApiServerUpcalls } from "../../shared/contracts/apiserver.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadHost } from "./thread-host.js";

export interface ApiServerThreadOptions {
  context: ThreadHost<"apiserver">;
  init: ApiServerInit;
  upcalls: ApiServerUpcalls;
}

/** Changes that wait are written in this time. */
const DRAIN_MS = 10_000;

export class ApiServerThread {
  readonly thread: SupervisedThread<ApiServerControl>;

  constructor({ context, init, upcalls }: ApiServerThreadOptions) {
    this.thread = superviseThread<ApiServerControl, ApiServerInit, ApiServerUpcalls>({
      ...context.common("apiserver"),
      init: () => init,
      upcalls,
      drainDeadlineMs: DRAIN_MS,
      onRunning: () => undefined,
      onExit: (exit) => context.exited(exit),
    });
  }

  /** For /metrics. */
  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}
