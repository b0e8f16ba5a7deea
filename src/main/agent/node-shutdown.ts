// Graceful shutdown as the running node has it: begun when the first pods are on their way, and not at all without a period.
// Invariant: nothing is loaded for it before; a stop is answered at any moment.
import type { Clock } from "../../shared/clock/clock.js";
import { errorText } from "../../shared/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { ShutdownParts } from "../node/shutdown/start-shutdown.js";

/** The first pods are not to wait for a library. */
const START_AFTER_MS = 1000;
/** A node whose API server is away knows no pods for longer than that: what it knows then has to do. */
const SETTLE_TRIES = 100;
const SETTLE_PAUSE_MS = 100;

export interface NodeShutdownParts extends ShutdownParts {
  /** All pod sources have delivered, and the runtime was observed. */
  settled: () => boolean;
}

export class NodeShutdown {
  /** Read by admission. */
  shuttingDown = false;
  private readonly stopping = new AbortController();
  private started: Promise<{ stop(): Promise<void> } | undefined> = Promise.resolve(undefined);

  begin(parts: NodeShutdownParts): void {
    if (parts.groups.length === 0) return;
    const log = moduleLogger(parts.log, "shutdown");
    this.started = this.start(parts, log).catch((error: unknown) => {
      if (!this.stopping.signal.aborted) {
        log.error({ err: error }, `graceful node shutdown is not available: ${errorText(error)}`);
      }
      return undefined;
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error("the kubelet is stopping"));
    await (await this.started)?.stop();
  }

  private async start(parts: NodeShutdownParts, log: Logger): Promise<{ stop(): Promise<void> }> {
    await this.untilSettled(parts.settled, parts.clock);
    const { startShutdown } = await import("../node/shutdown/start-shutdown.js");
    return startShutdown({
      ...parts,
      log,
      onShuttingDown: (shuttingDown) => {
        this.shuttingDown = shuttingDown;
        parts.onShuttingDown(shuttingDown);
      },
    });
  }

  private async untilSettled(settled: () => boolean, clock: Clock): Promise<void> {
    const { signal } = this.stopping;
    await clock.sleep(START_AFTER_MS, signal);
    for (let left = SETTLE_TRIES; left > 0 && !settled(); left--) await clock.sleep(SETTLE_PAUSE_MS, signal);
  }
}
