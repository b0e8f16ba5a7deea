// Runs a task periodically: at the start, one period after the start of each round, and earlier on request.
// Invariant: one round at a time; a failed round does not end the loop; a request during a round causes one more round.
import type { Clock, Timer } from "../../shared/clock/clock.js";
import { errorText } from "../../shared/log/error-text.js";
import type { Logger } from "../../shared/log/logger.js";

export interface RoundsOptions {
  /** Must not need to be cancelled: it looks at the signal. */
  round: (signal: AbortSignal) => Promise<void>;
  /** From the beginning of one round to the next, asked for each. */
  periodMs: () => number;
  /** Least time between two beginnings, however often asked for. */
  gapMs: number;
  /** For the log when a round throws: "the node's lease could not be renewed". */
  failed: string;
  clock: Clock;
  log: Pick<Logger, "error">;
}

export class Rounds {
  private timer: Timer | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  private begunAt = -Infinity;
  private readonly end = new AbortController();

  constructor(private readonly options: RoundsOptions) {}

  /** The first round begins now. */
  start(): void {
    this.begin();
  }

  /** A round is wanted soon. Before start() it does nothing. */
  poke(): void {
    if (this.end.signal.aborted || this.begunAt === -Infinity) return;
    if (this.running !== undefined) this.again = true;
    else this.schedule(0);
  }

  /** Calls under way are given up. */
  async stop(): Promise<void> {
    this.end.abort(new Error("the kubelet is stopping"));
    this.timer?.cancel();
    await this.running;
  }

  private schedule(afterMs: number): void {
    const { clock, gapMs } = this.options;
    this.timer?.cancel();
    const rest = this.begunAt + gapMs - clock.monotonic();
    this.timer = clock.after(Math.max(0, afterMs, rest), () => this.begin());
  }

  private begin(): void {
    const { round, clock, log, failed } = this.options;
    this.begunAt = clock.monotonic();
    this.again = false;
    const { signal } = this.end;
    this.running = round(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, `${failed}: ${errorText(error)}`);
      })
      .then(() => {
        this.running = undefined;
        if (signal.aborted) return;
        this.schedule(this.again ? 0 : this.begunAt + this.options.periodMs() - clock.monotonic());
      });
  }
}
