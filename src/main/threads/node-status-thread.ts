// The node-status thread as main runs it: given all facts at each start, and again whenever they change.

import type {
  NodeFacts,
  NodeStatusControl,
  NodeStatusInit,
  NodeStatusUpcalls,
} from "../../shared/contracts/node-status.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { MetricSnapshot } from "../../shared/telemetry/metrics/snapshot.js";
import { superviseThread, type SupervisedThread } from "./supervisor.js";
import type { ThreadHost } from "./thread-host.js";

export interface NodeStatusThreadOptions {
  context: ThreadHost<"node-status">;
  init: NodeStatusInit;
  upcalls: NodeStatusUpcalls;
  /** All facts, for a thread that has just started. */
  facts: () => NodeFacts;
  log: Logger;
}

/** The thread returns the API server's response; it has its own deadline for that. */
const CALL_DEADLINE_MS = 30_000;

export class NodeStatusThread {
  readonly thread: SupervisedThread<NodeStatusControl>;
  private joined = false;

  constructor(private readonly options: NodeStatusThreadOptions) {
    this.thread = superviseThread<NodeStatusControl, NodeStatusInit, NodeStatusUpcalls>({
      ...options.context.common("node-status"),
      init: () => options.init,
      callDeadlineMs: CALL_DEADLINE_MS,
      upcalls: options.upcalls,
      onRunning: (thread) => {
        // From here on what changes arrives after it.
        this.joined = true;
        return thread.call.setFacts(options.facts());
      },
      onExit: (exit) => {
        this.joined = false;
        options.context.exited(exit);
      },
    });
  }

  /** A thread that does not take them gets all at its next start. */
  setFacts(facts: NodeFacts): void {
    if (!this.joined) return;
    this.thread.call.setFacts(facts).catch((error: unknown) => {
      this.options.log.warn({ err: error }, "the node-status thread did not accept a change of the node");
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
