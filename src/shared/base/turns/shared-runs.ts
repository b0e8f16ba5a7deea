// One run of work shared by several callers. The run is aborted only when its last caller gives up.

import { unlessAborted } from "../abort/unless-aborted.js";

interface SharedRun<T> {
  result: Promise<T>;
  controller: AbortController;
  waiters: number;
}

export class SharedRuns<T, Key = string> {
  private readonly runs = new Map<Key, SharedRun<T>>();

  /** Rejects with the work's error, or at once with the signal's reason. */
  async run(key: Key, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const shared = this.runs.get(key) ?? this.startRun(key, work);
    shared.waiters++;
    try {
      return await unlessAborted(shared.result, signal);
    } finally {
      shared.waiters--;
      if (shared.waiters === 0) {
        this.forget(key, shared);
        shared.controller.abort(new Error("nothing waits for it any more"));
      }
    }
  }

  private startRun(key: Key, work: (signal: AbortSignal) => Promise<T>): SharedRun<T> {
    const controller = new AbortController();
    const run: SharedRun<T> = { result: work(controller.signal), controller, waiters: 0 };
    this.runs.set(key, run);
    // Each caller handles the failure; without callers the rejection is ignored.
    run.result.then(
      () => this.forget(key, run),
      () => this.forget(key, run),
    );
    return run;
  }

  private forget(key: Key, run: SharedRun<T>): void {
    if (this.runs.get(key) === run) this.runs.delete(key);
  }
}
