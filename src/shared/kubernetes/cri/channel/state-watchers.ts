// Who waits for a change of a channel's state.

import type { connectivityState as STATE } from "@grpc/grpc-js";
import type { Clock, Timer } from "../../../base/clock/clock.js";

interface Watcher {
  readonly current: STATE;
  readonly callback: (error?: Error) => void;
  readonly timer: Timer | undefined;
}

export class StateWatchers {
  readonly #clock: Clock;
  readonly #watchers = new Set<Watcher>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#watchers.size;
  }

  /**
   * @param seen the state that the watcher knows
   * @param deadline wall time; Infinity for none
   */
  add(seen: STATE, now: STATE, deadline: Date | number, callback: (error?: Error) => void): void {
    if (seen !== now) {
      process.nextTick(callback);
      return;
    }
    const ms = (deadline instanceof Date ? deadline.getTime() : deadline) - this.#clock.now();
    const onLate = (): void => {
      this.#watchers.delete(watcher);
      callback(new Error("Deadline passed without connectivity state change"));
    };
    const timer = Number.isFinite(ms) ? this.#clock.after(Math.max(0, ms), onLate) : undefined;
    const watcher = { current: seen, callback, timer };
    this.#watchers.add(watcher);
  }

  notify(state: STATE): void {
    for (const watcher of [...this.#watchers]) {
      if (watcher.current === state) continue;
      this.#watchers.delete(watcher);
      watcher.timer?.cancel();
      process.nextTick(watcher.callback);
    }
  }
}
