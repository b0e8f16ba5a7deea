// The first Ctrl-C ends gracefully, the second hurries. The terminal sends its signal to this process, and npm sends it
// again. So two within a second count as one.

import { constants } from "node:os";

/** Exit status of a command that a signal stopped, as a shell reports Ctrl-C. */
export const STOPPED = 128 + constants.signals.SIGINT;
const ONE_SIGNAL_MS = 1_000;
const WATCHED: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];

export interface StopSignals {
  /** Aborted by the first signal. */
  readonly stopped: AbortSignal;
  /** Aborted by the second. */
  readonly hurried: AbortSignal;
  unwatch(): void;
}

/** Takes over SIGINT, SIGTERM and SIGHUP until unwatch(). */
export function watchSignals(say: (line: string) => void): StopSignals {
  const stopped = new AbortController();
  const hurried = new AbortController();
  let last = -Infinity;
  const onSignal = (): void => {
    const now = performance.now();
    const repeated = now - last < ONE_SIGNAL_MS;
    last = now;
    if (!stopped.signal.aborted) {
      say("\nStopping; once more to hurry.");
      stopped.abort();
    } else if (!repeated && !hurried.signal.aborted) {
      say("\nHurrying.");
      hurried.abort();
    }
  };
  for (const signal of WATCHED) process.on(signal, onSignal);
  return {
    stopped: stopped.signal,
    hurried: hurried.signal,
    unwatch: () => {
      for (const signal of WATCHED) process.off(signal, onSignal);
    },
  };
}
