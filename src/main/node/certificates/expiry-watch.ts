// Terminates the kubelet if its client certificate has expired and cannot be renewed. The next process starts with the
// bootstrap kubeconfig, or an operator sees the failure.
// Invariant: while the API server is unreachable the kubelet does not exit, because a restart would not help. The
// monotonic clock counts the time, so a system clock set forward does not shorten the time to renew.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** Upstream's patience. */
const EXPIRED_FOR_MS = 5 * 60_000;
const LOOK_MS = 10_000;
const REMIND_MS = 60_000;

export interface ExpiryWatchDeps {
  /** End of the certificate in use, milliseconds since the epoch; undefined: there is none that ends. */
  notAfter: () => number | undefined;
  /** The server responded to the last request for a new certificate, if only with a refusal. */
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
