// One run of work shared by several callers. The run is aborted only when its last caller gives up.

import { abortReason } from "../../../../shared/base/errors/thrown.js";

interface SharedRun<T> {
  result: Promise<T>;
  controller: AbortController;
  waiters: number;
}

export class SharedRuns<T> {
  private readonly runs = new Map<string, SharedRun<T>>();

  /** Rejects with the work's error, or at once with the signal's reason. */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const shared = this.runs.get(key) ?? this.startRun(key, work);
    shared.waiters++;
    try {
      return await untilAborted(shared.result, signal);
    } finally {
      shared.waiters--;
      if (shared.waiters === 0) {
        this.forget(key, shared);
        shared.controller.abort(new Error("no pull waits for it any more"));
      }
    }
  }

  private startRun(key: string, work: (signal: AbortSignal) => Promise<T>): SharedRun<T> {
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

  private forget(key: string, run: SharedRun<T>): void {
    if (this.runs.get(key) === run) this.runs.delete(key);
  }
}

function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(abortReason(signal));
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
