// A thread that works from its init data alone: main starts it, stops it and reads its metrics.

import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { NodeThread, ThreadHost } from "./thread-host.js";

interface PlainControl {
  metrics(): Promise<MetricSnapshot>;
}

export interface PlainThreadOptions<Name extends string, Init> {
  name: Name;
  context: ThreadHost<Name>;
  init: Init;
  /** For work that has begun, at a stop. */
  drainDeadlineMs: number;
}

export class PlainThread<Name extends string, Init> implements NodeThread {
  readonly thread: SupervisedThread<PlainControl>;

  constructor({ name, context, init, drainDeadlineMs }: PlainThreadOptions<Name, Init>) {
    this.thread = superviseThread<PlainControl, Init>({
      ...context.common(name),
      init: () => init,
      drainDeadlineMs,
      onRunning: () => undefined,
      onExit: (exit) => context.exited(exit),
    });
  }

  async metrics(): Promise<MetricSnapshot[]> {
    return [await this.thread.call.metrics()];
  }

  stop(): Promise<void> {
    return this.thread.stop();
  }
}
