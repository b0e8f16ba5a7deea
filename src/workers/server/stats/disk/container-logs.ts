// What containers' log files take. Looked at for a page, at most every ten seconds for each container.
import type { Clock } from "../../../../shared/clock/clock.js";
import { takenBy, type Taken } from "../../../../shared/stats/fs-usage.js";

const LIFE_MS = 10_000;

export interface Logged extends Taken {
  /** Milliseconds since the epoch. */
  at: number;
}

export class ContainerLogs {
  private readonly entries = new Map<string, Logged & { asked: number }>();
  private readonly ended = new AbortController();

  constructor(
    private readonly podLogsDir: string,
    private readonly clock: Clock,
  ) {}

  close(): void {
    this.ended.abort(new Error("the server stops"));
  }

  /** Rejects when the server stops. */
  async of(pod: { namespace: string; name: string; uid: string }, container: string): Promise<Logged> {
    const path = `${this.podLogsDir}/${pod.namespace}_${pod.name}_${pod.uid}/${container}`;
    const now = this.clock.monotonic();
    const known = this.entries.get(path);
    if (known !== undefined && now - known.asked < LIFE_MS) return known;
    const taken = await takenBy(path, this.clock, this.ended.signal, { itself: false });
    const logged = { ...taken, at: this.clock.now(), asked: now };
    this.entries.set(path, logged);
    return logged;
  }

  /** Keeps what was asked for of late. */
  prune(): void {
    const now = this.clock.monotonic();
    for (const [path, { asked }] of this.entries) if (now - asked >= 10 * LIFE_MS) this.entries.delete(path);
  }
}
