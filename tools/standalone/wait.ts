// Nothing in the set-up sleeps for luck; it waits for a condition. If that never comes, the error names the condition
// and the last state.

import { messageOf } from "./problem.js";

export class WaitTimedOut extends Error {
  override readonly name = "WaitTimedOut";
}

export function isWaitTimedOut(error: unknown): error is WaitTimedOut {
  return error instanceof WaitTimedOut;
}

export interface WaitOptions {
  /** The awaited condition, as the end of the sentence "waited N s for …". */
  what: string;
  timeoutMs?: number;
  intervalMs?: number;
  signal?: AbortSignal;
  /** Extra words for the error, asked for only when time is up: a log's tail, the pods as last seen. */
  lastSeen?: () => string | Promise<string>;
}

/** Factor of the deadlines of the set-up and of test/vm, for slow machines: NODELET_PATIENCE=4. */
export const PATIENCE = Math.max(1, Number(process.env["NODELET_PATIENCE"] ?? 1) || 1);

/** Generous: a slow machine needs several times what a fast one does. */
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_INTERVAL_MS = 25;

/** A truthy answer of `condition`, asked again until there is one. An error it throws counts as "not yet". */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: WaitOptions,
): Promise<Exclude<T, false | undefined | null | 0 | "">> {
  const timeoutMs = (options.timeoutMs ?? DEFAULT_TIMEOUT_MS) * PATIENCE;
  const deadline = performance.now() + timeoutMs;
  let failure: string | undefined;
  for (;;) {
    options.signal?.throwIfAborted();
    try {
      const answer = await condition();
      if (answer) return answer as Exclude<T, false | undefined | null | 0 | "">;
      failure = undefined;
    } catch (error) {
      failure = messageOf(error);
    }
    if (performance.now() >= deadline) break;
    await sleep(options.intervalMs ?? DEFAULT_INTERVAL_MS);
  }
  const seen = [failure, await options.lastSeen?.()].filter((text) => text !== undefined && text !== "").join("; ");
  throw new WaitTimedOut(
    `waited ${timeoutMs / 1000} s for ${options.what}${seen === "" ? "" : ` — last seen: ${seen}`}`,
  );
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
