// The logs of all containers. Invariant: one follower per container; a container that is removed has none.
import type { Clock } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { Engine } from "../engine/engine.js";
import { ContainerLog, type LoggedContainer } from "./container-log.js";

/** An exited container's status waits so long for the last lines: its termination message may be read from them. */
const SETTLE_MS = 2000;

export class ContainerLogs {
  private readonly logs = new Map<string, ContainerLog>();

  constructor(private readonly deps: { engine: Engine; clock: Clock; log: Logger }) {}

  /** Does nothing for a container whose log is followed, and for one without a log path. */
  follow(container: LoggedContainer): void {
    if (container.path === "" || this.logs.has(container.id)) return;
    const log = new ContainerLog(container, this.deps);
    this.logs.set(container.id, log);
    const forget = (): void => {
      if (this.logs.get(container.id) === log) this.logs.delete(container.id);
    };
    log.done.then(forget, (error: unknown) => {
      forget();
      this.deps.log.error({ err: error }, `the log of container ${container.id} is not written any more`);
    });
  }

  /** Resolves when the container's output is written, or after SETTLE_MS. */
  async settled(id: string): Promise<void> {
    const log = this.logs.get(id);
    if (log === undefined) return;
    const late = new AbortController();
    const done = log.done.then(() => late.abort());
    await Promise.race([done, this.deps.clock.sleep(SETTLE_MS, late.signal).catch(() => undefined)]);
    late.abort();
  }

  /** Of a running container. One whose log is not followed, since this thread has just started or failed to, is followed from here on. */
  async reopen(container: LoggedContainer): Promise<void> {
    this.follow(container);
    await this.logs.get(container.id)?.reopen();
  }

  async stop(id: string): Promise<void> {
    await this.logs.get(id)?.stop();
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.logs.values()].map((log) => log.stop()));
  }
}
