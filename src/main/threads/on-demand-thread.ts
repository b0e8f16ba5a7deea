// A dedicated thread that runs only while there is work for it (docs/adr/0119). The supervisor starts it for the work
// and ends it in order afterwards. A thread that crashes or hangs in the middle is restarted as any other.
// Invariant: the thread never ends while a caller uses it; a caller waits for the end of a thread that is about to
// rest.

import type { ThreadFault } from "../../shared/base/faults/thread-fault.js";
import type { ThreadState } from "../../shared/base/queue/board.js";
import { ThreadCallTimeoutError } from "../../shared/thread/errors.js";
import type { Remote } from "../../shared/thread/remote-calls.js";
import { ThreadStoppedError } from "./errors.js";
import { SupervisedThread, type SuperviseOptions } from "./supervisor.js";

export interface OnDemandOptions<Control extends object, Init, Upcalls extends object> extends SuperviseOptions<
  Control,
  Init,
  Upcalls
> {
  /** Called before each orderly end, while the thread still answers. */
  beforeRest(call: Remote<Control>): Promise<void>;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

export function superviseOnDemand<Control extends object, Init, Upcalls extends object>(
  options: OnDemandOptions<Control, Init, Upcalls>,
): OnDemandThread<Control> {
  return new OnDemandThread<Control>(options);
}

export class OnDemandThread<Control extends object> extends SupervisedThread<Control> {
  private users = 0;
  private readonly waiters = new Set<Waiter>();
  private stopped = false;

  constructor(protected override readonly options: OnDemandOptions<Control, unknown, object>) {
    super(options);
    this.enter("resting");
  }

  /**
   * Does work with the running thread, which is started for it. Both together have `deadlineMs`. Rejects with
   * ThreadExitedError when the thread ends in the middle.
   */
  async use<T>(deadlineMs: number, work: (call: Remote<Control>) => Promise<T>): Promise<T> {
    const { clock } = this.options;
    const begun = clock.monotonic();
    this.users++;
    try {
      await this.awake(deadlineMs);
      return await work(this.within(Math.max(0, deadlineMs - (clock.monotonic() - begun))));
    } finally {
      this.users--;
      this.restIfUnused();
    }
  }

  /** Wakes a thread that rests, for the fault hook. */
  override async terminate(): Promise<void> {
    await this.awakeFor(async () => super.terminate());
  }

  override commitFault(fault: ThreadFault): void {
    this.awakeFor(async () => {
      super.commitFault(fault);
      await this.current?.gone();
    }).catch((error: unknown) => {
      this.options.log.error({ err: error, thread: this.name }, "the ordered fault was not committed");
    });
  }

  override stop(): Promise<void> {
    this.stopped = true;
    for (const waiter of this.waiters) waiter.reject(new ThreadStoppedError(this.name));
    this.waiters.clear();
    return super.stop();
  }

  protected override enter(state: ThreadState): void {
    super.enter(state);
    if (state !== "running") return;
    for (const waiter of this.waiters) waiter.resolve();
    this.waiters.clear();
    // After a restart the thread may have no work left.
    queueMicrotask(() => this.restIfUnused());
  }

  private async awakeFor(run: () => Promise<void>): Promise<void> {
    this.users++;
    try {
      await this.awake(Infinity);
      await run();
    } finally {
      this.users--;
      this.restIfUnused();
    }
  }

  private awake(deadlineMs: number): Promise<void> {
    if (this.stopped) return Promise.reject(new ThreadStoppedError(this.name));
    if (this.state === "running") return Promise.resolve();
    return new Promise((resolve, reject) => {
      const { clock } = this.options;
      const late = (): void => waiter.reject(new ThreadCallTimeoutError(this.name, "start", deadlineMs));
      const timer = deadlineMs === Infinity ? undefined : clock.after(deadlineMs, late).unref();
      const settled = (how: () => void): void => {
        timer?.cancel();
        this.waiters.delete(waiter);
        how();
      };
      const waiter: Waiter = { resolve: () => settled(resolve), reject: (error) => settled(() => reject(error)) };
      this.waiters.add(waiter);
      this.wake().catch((error: unknown) => waiter.reject(error instanceof Error ? error : new Error(String(error))));
    });
  }

  private restIfUnused(): void {
    if (this.users > 0 || this.stopped || this.state !== "running") return;
    this.endInOrder().catch((error: unknown) => {
      this.options.log.warn({ err: error, thread: this.name }, `the ${this.name} thread did not end in order`);
    });
  }

  private async endInOrder(): Promise<void> {
    // It counts as used: another end does not begin, and a caller that comes now finds it running.
    this.users++;
    try {
      await this.options.beforeRest(this.call);
    } finally {
      this.users--;
    }
    if (this.users === 0) await this.rest();
  }
}
