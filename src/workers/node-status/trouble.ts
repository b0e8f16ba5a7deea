// Trouble that lasts, in the log: told when it begins, changes its words, and once a minute; and that it is over.
import type { Clock } from "../../shared/clock/clock.js";
import type { Logger } from "../../shared/log/logger.js";

const REMIND_MS = 60_000;

export class Trouble {
  private told = "";
  private toldAt = -Infinity;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly log: Pick<Logger, "error" | "info">,
  ) {}

  tell(what: string): void {
    const now = this.clock.monotonic();
    if (what === this.told && now - this.toldAt < REMIND_MS) return;
    this.told = what;
    this.toldAt = now;
    this.log.error(what);
  }

  /** Silent when there was none. */
  over(words: string): void {
    if (this.told !== "") this.log.info(words);
    this.told = "";
  }
}
