// The peers thread as main runs it: probes and lifecycle hooks whose server a pod chooses (docs/adr/0075). It starts
// with the first of them.
// Invariant: a hook that the end of the thread interrupted runs again, at most HOOK_TRIES times; an aborted hook ends
// in the thread, too.

import { unlessAborted } from "../../shared/base/abort/unless-aborted.js";
import type { HttpHook, HttpHookReply, PeersControl, PeersInit } from "../../shared/contracts/peers.js";
import { ThreadExitedError } from "../../shared/thread/errors.js";
import type { HookPort } from "../model/hook-port.js";
import { probeUserAgent } from "./probe-user-agent.js";
import { ProbeThread, type ProbeThreadOptions } from "./prober-thread.js";

/**
 * The end of a hook is its pod's: its grace period, or nothing for postStart. Every call needs a deadline all the same.
 */
const HOOK_DEADLINE_MS = 24 * 60 * 60_000;
/** The thread does not end often, and perhaps it is this hook that ends it. */
const HOOK_TRIES = 3;

export class PeersThread extends ProbeThread<"peers", PeersControl, PeersInit> implements HookPort {
  private lastHook = 0;
  /** Resolves when the thread runs; another one for each generation. */
  private running: Promise<void>;
  private setRunning: () => void = () => undefined;

  constructor(options: ProbeThreadOptions<"peers", PeersInit>) {
    super("peers", options);
    this.running = this.nextStart();
  }

  /** Rejects with the signal's reason, or if the thread could not run the hook. */
  async runHook(hook: HttpHook, signal: AbortSignal): Promise<HttpHookReply> {
    this.start();
    for (let tries = 1; ; tries++) {
      await unlessAborted(this.running, signal);
      try {
        return await this.runOnce(hook, signal);
      } catch (error) {
        if (!(error instanceof ThreadExitedError) || tries === HOOK_TRIES) throw error;
      }
    }
  }

  private async runOnce(hook: HttpHook, signal: AbortSignal): Promise<HttpHookReply> {
    const id = ++this.lastHook;
    try {
      return await unlessAborted(this.thread.within(HOOK_DEADLINE_MS).runHook(id, hook), signal);
    } finally {
      if (signal.aborted) this.cancel(id);
    }
  }

  private cancel(id: number): void {
    this.thread.call.cancelHook(id).catch((error: unknown) => {
      // An exited thread has no hooks.
      if (!(error instanceof ThreadExitedError)) this.options.log.warn({ err: error }, "cannot cancel a hook");
    });
  }

  protected override async join(): Promise<void> {
    await super.join();
    this.setRunning();
  }

  protected override onThreadExit(): void {
    this.running = this.nextStart();
  }

  private nextStart(): Promise<void> {
    return new Promise((resolve) => {
      this.setRunning = resolve;
    });
  }
}

export function peersInit(): PeersInit {
  return { userAgent: probeUserAgent() };
}
