// Schedules calls on mounts that may hang, and their time-outs. Pure: it receives events and the time, and returns
// steps.
// Invariant: one call per mount at a time; at most `slots` calls in all. Some slots are reserved for quick calls to
// mounts that responded last time. A mount that did not respond is refused until its rest ends.

export interface ScheduleLimits {
  /** Calls under way at a time. */
  slots: number;
  /** Number of these for calls to mounts that responded last time, while they are quick. */
  reserved: number;
  /** A call is abandoned after this time. */
  deadlineMs: number;
  /** Deadline of calls that do much; one such call is under way at a time. */
  longDeadlineMs: number;
  /** While others wait, a call is abandoned after this time. */
  slowMs: number;
  /** Rest of a mount that did not respond; doubles each time. */
  firstRestMs: number;
  longestRestMs: number;
}

export const LIMITS: ScheduleLimits = {
  slots: 6,
  reserved: 2,
  deadlineMs: 10_000,
  longDeadlineMs: 60_000,
  slowMs: 1000,
  firstRestMs: 10_000,
  longestRestMs: 120_000,
};

export type Step =
  /** Make the call. */
  | { do: "start"; id: number }
  /** Kill the call's helper, and report `ended` after its exit; the caller gets an error. */
  | { do: "give up"; id: number; since: number }
  /** It was never made; the caller gets an error. */
  | { do: "refuse"; id: number; since: number };

interface Call {
  id: number;
  mount: string;
  long: boolean;
}

interface Running extends Call {
  startedAt: number;
}

interface MountState {
  /** Whether the last call had a response; undefined: no call yet. */
  answered: boolean | undefined;
  /** Start of the first call without a response. */
  since: number;
  restMs: number;
  restsUntil: number;
  /** Its call is pending, or was abandoned while its helper still exists. */
  busy: boolean;
}

export class CallSchedule {
  private readonly mounts = new Map<string, MountState>();
  private readonly running = new Map<number, Running>();
  /** Given up, with a helper that has not exited. */
  private readonly ending = new Map<number, string>();
  private waiting: Call[] = [];
  /** A mount whose pause has ended was refused, because another mount is being tried again. */
  private knocked = false;

  constructor(private readonly limits: ScheduleLimits = LIMITS) {}

  /** Follow with `next`. */
  submit(call: Call): void {
    this.waiting.push(call);
  }

  /** The caller of a waiting call has left; a call that was made continues. */
  withdraw(id: number): void {
    this.waiting = this.waiting.filter((call) => call.id !== id);
  }

  /** The call has an outcome, good or bad. */
  answered(id: number): void {
    const call = this.running.get(id);
    if (call === undefined) return;
    if (this.isHung(call)) this.knocked = false;
    this.running.delete(id);
    this.mounts.set(call.mount, { answered: true, since: 0, restMs: 0, restsUntil: 0, busy: false });
  }

  /** The helper of an abandoned call has exited. */
  ended(id: number): void {
    const mount = this.ending.get(id);
    this.ending.delete(id);
    const state = mount === undefined ? undefined : this.mounts.get(mount);
    if (state !== undefined) state.busy = false;
  }

  /** Removed mounts are forgotten. */
  keepOnly(isMounted: (mount: string) => boolean): void {
    for (const [mount, { busy }] of this.mounts) if (!busy && !isMounted(mount)) this.mounts.delete(mount);
  }

  /** Mounts that did not respond last time. */
  get hung(): string[] {
    return [...this.mounts].filter(([, { answered }]) => answered === false).map(([mount]) => mount);
  }

  /** The next calls to run. */
  next(now: number): Step[] {
    const steps: Step[] = [];
    for (const call of this.running.values()) {
      if (now - call.startedAt >= this.deadlineOf(call)) this.giveUp(call, now, steps);
    }
    // Gives up slow calls one by one, oldest first, while a call waits only for a slot.
    for (;;) {
      this.startWaiting(now, steps);
      this.refuseHung(now, steps);
      const slow = this.isBlocked(now) ? this.slowest(now) : undefined;
      if (slow === undefined) return steps;
      this.giveUp(slow, now, steps);
    }
  }

  /** Time at which `next` returns new work without an event. */
  wakeAt(now: number): number | undefined {
    const blocked = this.isBlocked(now);
    const moments = [...this.running.values()].map((call) => {
      const slowAt = call.startedAt + this.limits.slowMs;
      return blocked && !call.long && slowAt > now ? slowAt : call.startedAt + this.deadlineOf(call);
    });
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  private deadlineOf(call: Call): number {
    const { longDeadlineMs, deadlineMs, slowMs } = this.limits;
    if (call.long) return longDeadlineMs;
    return this.knocked && this.isHung(call) ? 2 * slowMs : deadlineMs;
  }

  private isHung({ mount }: Call): boolean {
    return this.mounts.get(mount)?.answered === false;
  }

  private giveUp(call: Running, now: number, steps: Step[]): void {
    const { firstRestMs, longestRestMs } = this.limits;
    if (this.isHung(call)) this.knocked = false;
    const known = this.mounts.get(call.mount);
    const since = known?.answered === false ? known.since : call.startedAt;
    const restMs = known === undefined || known.restMs === 0 ? firstRestMs : Math.min(known.restMs * 2, longestRestMs);
    this.mounts.set(call.mount, { answered: false, since, restMs, restsUntil: now + restMs, busy: true });
    this.running.delete(call.id);
    this.ending.set(call.id, call.mount);
    steps.push({ do: "give up", id: call.id, since });
  }

  /** A mount that did not respond keeps no caller waiting. */
  private refuseHung(now: number, steps: Step[]): void {
    this.waiting = this.waiting.filter(({ id, mount }) => {
      const state = this.mounts.get(mount);
      if (state?.answered !== false) return true;
      if (!state.busy && state.restsUntil <= now) this.knocked = true;
      steps.push({ do: "refuse", id, since: state.since });
      return false;
    });
  }

  private startWaiting(now: number, steps: Step[]): void {
    // Mounts that responded first, then unknown ones, then those that did not: each in the order of arrival.
    for (const answered of [true, undefined, false]) {
      for (const call of this.waiting.filter(({ mount }) => this.mounts.get(mount)?.answered === answered)) {
        if (!this.mayStart(call, now)) continue;
        this.waiting = this.waiting.filter(({ id }) => id !== call.id);
        this.running.set(call.id, { ...call, startedAt: now });
        const state = this.mounts.get(call.mount);
        const fresh = { answered: undefined, since: 0, restMs: 0, restsUntil: 0 };
        this.mounts.set(call.mount, { ...(state ?? fresh), busy: true });
        steps.push({ do: "start", id: call.id });
      }
    }
  }

  private mayStart({ mount, long }: Call, now: number): boolean {
    const { slots, reserved } = this.limits;
    const state = this.mounts.get(mount);
    if (state?.busy === true || this.running.size >= slots) return false;
    const running = [...this.running.values()];
    if (long && running.some((call) => call.long)) return false;
    // Mounts that did not respond get calls again one at a time, each after its rest.
    if (state?.answered === false && (state.restsUntil > now || running.some((call) => this.isHung(call))))
      return false;
    if (state?.answered === true && !long) return true;
    return running.filter((call) => this.isDoubtful(call, now)).length < slots - reserved;
  }

  private isDoubtful(call: Running, now: number): boolean {
    return call.long || this.mounts.get(call.mount)?.answered !== true || now - call.startedAt >= this.limits.slowMs;
  }

  /** A call waits for nothing but a slot. */
  private isBlocked(now: number): boolean {
    return this.waiting.some((call) => {
      const state = this.mounts.get(call.mount);
      const free = state?.busy !== true && !(call.long && [...this.running.values()].some(({ long }) => long));
      return free && state?.answered !== false && !this.mayStart(call, now);
    });
  }

  private slowest(now: number): Running | undefined {
    return [...this.running.values()]
      .filter(({ long, startedAt }) => !long && now - startedAt >= this.limits.slowMs)
      .sort((a, b) => a.startedAt - b.startedAt)[0];
  }
}
