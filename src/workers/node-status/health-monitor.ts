// Checks once a second on the thread board whether the main and pleg threads run. The heartbeat is on this thread, and
// would otherwise continue when these are stuck (docs/adr/0024). Invariant: nothing here waits for another thread; a
// pause of the whole process does not count as a stuck thread.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { goDuration } from "../../shared/base/clock/go-duration.js";
import { type MonotonicTime, later, latest } from "../../shared/base/clock/moments.js";
import type { BoardReader, ThreadSnapshot } from "../../shared/base/queue/board.js";
import { opName } from "../../shared/contracts/thread-ops.js";
import { apiTime } from "../../shared/kubernetes/api/time.js";
import { SilenceTimer } from "./silence-timer.js";
const LOOK_MS = 1000;

/** A relist older than this makes the node NotReady; upstream's limit. */
const RELIST_LIMIT_MS = 3 * 60_000;

/** Longest silence of a thread, ms, before the lease is left to run out. */
export interface StampLimits {
  main: number;
  pleg: number;
}

/**
 * Main is never killed for slowness, so 20 s leave a wide margin; pleg is restarted after 10 s of silence and
 * then has 10 s to be ready. Both are shorter than the lease: the lease must not outlive the node's health.
 */
export function stampLimits(leaseDurationSeconds: number): StampLimits {
  const leaseMs = leaseDurationSeconds * 1000;
  return { main: Math.min(20_000, leaseMs / 2), pleg: Math.min(30_000, (leaseMs * 3) / 4) };
}

/** The result of one check. */
export interface KubeletHealth {
  /** A sentence for each thread that is stuck; the lease is renewed only while there is none. */
  stalls: readonly string[];
  /** The problem of the relists in upstream's text; "": none. */
  plegProblem: string;
}

export interface HealthMonitorOptions {
  board: Pick<BoardReader, "read">;
  limits: StampLimits;
  clock: Clock;
  /** The verdict differs from the last check's; ages alone do not count. */
  onChange(): void;
}

export class HealthMonitor {
  private readonly threads: { name: keyof StampLimits; silence: SilenceTimer; stall: string | undefined }[];
  private readonly relists = new SilenceTimer(LOOK_MS);
  /** Monotonic time of the last relist, kept over restarts of the pleg thread. */
  private relistAt: MonotonicTime | undefined;
  private plegProblem = "";
  private timer: Timer | undefined;

  constructor(private readonly options: HealthMonitorOptions) {
    this.threads = (["main", "pleg"] as const).map((name) => ({
      name,
      silence: new SilenceTimer(LOOK_MS),
      stall: undefined,
    }));
  }

  start(): void {
    this.checkThreads();
    this.timer = this.options.clock.every(LOOK_MS, () => this.tick());
  }

  stop(): void {
    this.timer?.cancel();
  }

  /**
   * As of the last check. The first relist is seen at once: the first status of the node, which waited for it, would be
   * NotReady.
   */
  get current(): KubeletHealth {
    if (this.relistAt === undefined) this.checkThreads();
    return { stalls: this.threads.flatMap(({ stall }) => stall ?? []), plegProblem: this.plegProblem };
  }

  private tick(): void {
    const before = this.verdict();
    this.checkThreads();
    if (this.verdict() !== before) this.options.onChange();
  }

  private verdict(): string {
    return [...this.current.stalls, this.plegProblem === "" ? "" : "pleg"].join("\n");
  }

  private checkThreads(): void {
    const { board, limits, clock } = this.options;
    const now = clock.monotonic();
    for (const thread of this.threads) {
      const seen = board.read(thread.name);
      const silentMs = thread.silence.observe(seen.ageMs, now);
      // The first message stays: a message that changes with each check would be a new status each time.
      if (silentMs <= limits[thread.name]) thread.stall = undefined;
      else thread.stall ??= this.describe(seen, silentMs, limits[thread.name]);
    }
    const { workAgeMs } = board.read("pleg");
    if (workAgeMs !== Infinity) {
      const relistAt = later(now, -workAgeMs);
      this.relistAt = latest(this.relistAt ?? relistAt, relistAt);
    }
    const ageMs = this.relists.observe(this.relistAt === undefined ? Infinity : now - this.relistAt, now);
    this.plegProblem =
      ageMs === Infinity
        ? "pleg has yet to be successful"
        : ageMs > RELIST_LIMIT_MS
          ? `pleg was last seen active ${goDuration(ageMs)} ago; threshold is ${goDuration(RELIST_LIMIT_MS)}`
          : "";
  }

  /** "main is not healthy: its thread was last seen active at …, in relist since …; threshold is 20s" */
  private describe({ thread, ageMs, op, opAgeMs }: ThreadSnapshot, silentMs: number, limitMs: number): string {
    const at = (agoMs: number): string => apiTime(this.options.clock.now() - agoMs);
    const last = ageMs === Infinity ? "has not been seen active" : `was last seen active at ${at(silentMs)}`;
    const doing = op === 0 ? "" : `, in ${opName(thread, op) ?? `operation ${op}`} since ${at(opAgeMs)}`;
    return `${thread} is not healthy: its thread ${last}${doing}; threshold is ${goDuration(limitMs)}`;
  }
}
