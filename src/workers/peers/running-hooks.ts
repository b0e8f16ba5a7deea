// The lifecycle hooks in progress, so that main can cancel one by its number.

import { StoppingError } from "../../shared/base/abort/lifetime.js";
import type { HttpHook, HttpHookReply } from "../../shared/contracts/peers.js";

export class RunningHooks {
  private readonly running = new Map<number, { abort: AbortController; ended: Promise<HttpHookReply> }>();

  constructor(private readonly runOne: (hook: HttpHook, signal: AbortSignal) => Promise<HttpHookReply>) {}

  async run(id: number, hook: HttpHook): Promise<HttpHookReply> {
    const abort = new AbortController();
    const ended = this.runOne(hook, abort.signal);
    this.running.set(id, { abort, ended });
    try {
      return await ended;
    } finally {
      this.running.delete(id);
    }
  }

  cancel(id: number): void {
    this.running.get(id)?.abort.abort(new Error("the hook is no longer wanted"));
  }

  async stop(): Promise<void> {
    const all = [...this.running.values()];
    for (const { abort } of all) abort.abort(new StoppingError());
    await Promise.allSettled(all.map(({ ended }) => ended));
  }
}
