// The logs of all containers. Invariant: one follower per container; a container that is removed has none.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { type MonotonicTime, later } from "../../../shared/base/clock/moments.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { Engine } from "../engine/engine.js";
import { ContainerLog, type LoggedContainer } from "./container-log.js";

/**
 * The statuses of an exited container wait so long, in all, for its last lines. Its termination message may be read
 * from them. A busy Engine sends them seconds late. A log that cannot be written, for example on a full disk, delays no
 * later status.
 */
const SETTLE_MS = 10_000;

interface Followed {
  log: ContainerLog;
  /** When {@link ContainerLogs.settled} stops waiting. */
  settlesBy?: MonotonicTime;
}

export class ContainerLogs {
  private readonly logs = new Map<string, Followed>();

  constructor(private readonly deps: { engine: Engine; clock: Clock; log: Logger }) {}

  /** Does nothing for a container whose log is followed, and for one without a log path. */
  follow(container: LoggedContainer): void {
    if (container.path === "" || this.logs.has(container.id)) return;
    const log = new ContainerLog(container, this.deps);
    this.logs.set(container.id, { log });
    const forget = (): void => {
      if (this.logs.get(container.id)?.log === log) this.logs.delete(container.id);
    };
    log.done.then(forget, (error: unknown) => {
      forget();
      this.deps.log.error({ err: error }, `the log of container ${container.id} is not written any more`);
    });
  }

  /** Resolves when the container's output is written, or SETTLE_MS after the first call for it. */
  async settled(id: string): Promise<void> {
    const followed = this.logs.get(id);
    if (followed === undefined) return;
    const { clock } = this.deps;
    followed.settlesBy ??= later(clock.monotonic(), SETTLE_MS);
    const late = new AbortController();
    const done = followed.log.done.then(() => late.abort());
    const left = Math.max(0, followed.settlesBy - clock.monotonic());
    await Promise.race([done, clock.sleep(left, late.signal).catch(() => undefined)]);
    late.abort();
  }

  /**
   * Reopens the log of a running container. A log that is not followed, because this thread has just started or could
   * not follow it, is followed from here on.
   */
  async reopen(container: LoggedContainer): Promise<void> {
    this.follow(container);
    await this.logs.get(container.id)?.log.reopen();
  }

  async stop(id: string): Promise<void> {
    await this.logs.get(id)?.log.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.logs.values()].map(({ log }) => log.stop()));
  }
}
