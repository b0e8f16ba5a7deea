// Ends the kubelet whose client certificate has expired for good: its next life has a bootstrap kubeconfig to begin with, or
// an operator who sees that it fails.
// Invariant: while the API server can't be asked the kubelet stays, for another life could do no better; time is counted
// by the monotonic clock, so that a clock set forth leaves the time to renew.
import type { Clock, Timer } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";

/** Upstream's patience. */
const EXPIRED_FOR_MS = 5 * 60_000;
const LOOK_MS = 10_000;
const REMIND_MS = 60_000;

export interface ExpiryWatchDeps {
  /** End of the certificate in use, milliseconds since the epoch; undefined: there is none that ends. */
  notAfter: () => number | undefined;
  /** The last request for a new certificate was answered, if only with a refusal. */
  serverAnswers: () => boolean;
  giveUp: (reason: string) => void;
  clock: Clock;
  log: Pick<Logger, "error">;
}

/** @returns ends the watch */
export function watchExpiry({ notAfter, serverAnswers, giveUp, clock, log }: ExpiryWatchDeps): () => void {
  let validAt = clock.monotonic();
  let reportedAt = -Infinity;
  const timer: Timer = clock.every(LOOK_MS, () => {
    const now = clock.monotonic();
    const end = notAfter();
    if (end === undefined || clock.now() <= end) {
      validAt = now;
      return;
    }
    if (now - validAt < EXPIRED_FOR_MS) return;
    if (serverAnswers()) {
      timer.cancel();
      giveUp(
        "the client certificate has expired and the API server does not renew it; restarting the kubelet to bootstrap",
      );
    } else if (now - reportedAt >= REMIND_MS) {
      reportedAt = now;
      log.error(
        "the client certificate has expired and the API server cannot be reached to renew it; trying again. If it " +
          "refuses, the kubelet restarts to bootstrap",
      );
    }
  });
  return () => timer.cancel();
}
