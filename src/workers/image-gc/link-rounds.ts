// Looks for dangling log links every so often. Invariant: one round at a time; a failed round ends nothing.
import type { Clock, Timer } from "../../shared/clock/clock.js";
import { removeDanglingLinks, type LogLinksOptions } from "./log-links.js";

export interface LinkRoundsOptions extends LogLinksOptions {
  periodMs: number;
  clock: Clock;
  removed(count: number): void;
}

export class LinkRounds {
  private timer: Timer | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly options: LinkRoundsOptions) {}

  /** The first round is a period away: at the start the links' containers are not known. */
  start(): void {
    this.timer = this.options.clock.after(this.options.periodMs, () => {
      this.running = this.round().finally(() => {
        if (!this.stopped) this.start();
      });
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private async round(): Promise<void> {
    try {
      this.options.removed(await removeDanglingLinks(this.options));
    } catch (error) {
      this.options.log.warn({ err: error }, "cannot remove dead log symlinks; the next round tries again");
    }
  }
}
