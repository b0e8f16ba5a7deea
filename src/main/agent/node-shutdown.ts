// Graceful shutdown of the running node: started after the first pods, and only with a configured period. Invariant:
// nothing is loaded for it before; a stop works at any moment.
import type { Clock } from "../../shared/clock/clock.js";
import { errorText } from "../../shared/log/error-text.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";
import type { ShutdownDeps } from "../node/shutdown/start-shutdown.js";

/** The first pods must not wait for a library. */
const START_AFTER_MS = 1000;
/**
 * Without an API server the sources stay unsettled for longer than this: shutdown handling then starts with the known
 * pods.
 */
const SETTLE_TRIES = 100;
const SETTLE_PAUSE_MS = 100;

export interface NodeShutdownDeps extends ShutdownDeps {
  /** All pod sources have delivered, and the runtime was observed. */
  settled: () => boolean;
}

export class NodeShutdown {
  /** Read by admission. */
  shuttingDown = false;
  private readonly stopping = new AbortController();
  private started: Promise<{ stop(): Promise<void> } | undefined> = Promise.resolve(undefined);

  schedule(deps: NodeShutdownDeps): void {
    if (deps.groups.length === 0) return;
    const log = moduleLogger(deps.log, "shutdown");
    this.started = this.start(deps, log).catch((error: unknown) => {
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

  private async start(deps: NodeShutdownDeps, log: Logger): Promise<{ stop(): Promise<void> }> {
    await this.untilSettled(deps.settled, deps.clock);
    const { startShutdown } = await import("../node/shutdown/start-shutdown.js");
    return startShutdown({
      ...deps,
      log,
      onShuttingDown: (shuttingDown) => {
        this.shuttingDown = shuttingDown;
        deps.onShuttingDown(shuttingDown);
      },
    });
  }

  private async untilSettled(settled: () => boolean, clock: Clock): Promise<void> {
    const { signal } = this.stopping;
    await clock.sleep(START_AFTER_MS, signal);
    for (let left = SETTLE_TRIES; left > 0 && !settled(); left--) await clock.sleep(SETTLE_PAUSE_MS, signal);
  }
}
