// Feeds systemd's watchdog while every named thread ticks. When one does not, systemd kills the process and starts a
// new one. The pods keep running, and the new kubelet adopts them. Feeding begins with READY=1: before that systemd
// does not count (Type=notify).

import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import type { BoardReader } from "../../../shared/base/queue/board.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { describeLate, lateThreads, type OpName, type StampLimits } from "../../threads/late-threads.js";

/** Up to this WATCHDOG_USEC the start is refused, as upstream does. */
const SHORTEST_TIMEOUT_MS = 1_000;

/**
 * Interval between watchdog notifications, ms: half of WATCHDOG_USEC. undefined when there is no watchdog, or it is
 * meant for another
 * process (WATCHDOG_PID).
 * @throws OperatorError: not numbers, or a timeout of 1 s or less.
 */
export function watchdogInterval(
  env: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): number | undefined {
  const micros = positive("WATCHDOG_USEC", env["WATCHDOG_USEC"]);
  if (micros === undefined) return undefined;
  const meant = positive("WATCHDOG_PID", env["WATCHDOG_PID"]);
  if (meant !== undefined && meant !== pid) return undefined;
  if (micros <= SHORTEST_TIMEOUT_MS * 1000) {
    throw new OperatorError(
      `the watchdog's timeout is too short: WATCHDOG_USEC=${micros}; set WatchdogSec= of the unit to more than 1 s`,
    );
  }
  return micros / 2000;
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new OperatorError(
    `${name}=${text} is not a whole number above 0: systemd sets it from WatchdogSec= of the unit; unset it elsewhere`,
  );
}

export interface WatchdogOptions {
  /** From `watchdogInterval`. */
  intervalMs: number;
  board: Pick<BoardReader, "snapshot">;
  /**
   * Per thread. Above the supervisor's stall limit plus its longest back-off. Otherwise systemd would kill a kubelet
   * whose thread the supervisor will restart.
   */
  limits: StampLimits;
  clock: Pick<Clock, "every" | "monotonic">;
  /** WATCHDOG=1; see SystemdNotifier. */
  feed: () => void;
  log: Pick<Logger, "info" | "error">;
  opName?: OpName;
}

/**
 * Notifies now and then every interval, or names the thread that is late. Does not keep the process alive. Returns a
 * function that ends it.
 */
export function feedWatchdog(options: WatchdogOptions): () => void {
  const { intervalMs, board, limits, clock, feed, log, opName } = options;
  let lastLook = clock.monotonic();
  let excused = false;
  let starved: string | undefined;
  feed();
  const look = (): void => {
    const now = clock.monotonic();
    const lateMs = now - lastLook - intervalMs;
    lastLook = now;
    // A check that is late itself (a stopped process, a paused machine) finds every stamp old. The threads then get one
    // more interval. Only one, or a slow main thread would hide a stuck one.
    excused = !excused && lateMs > intervalMs / 2;
    if (excused) {
      feed();
      return;
    }
    const late = lateThreads(board.snapshot(), limits);
    if (late.length === 0) {
      if (starved !== undefined) log.info(`notifying the watchdog again; late threads were ${starved}`);
      starved = undefined;
      feed();
      return;
    }
    const names = late.map(({ thread }) => thread).join(", ");
    const first = starved !== names;
    starved = names;
    if (!first) return;
    log.error(
      { late },
      `not notifying the watchdog: ${late.map((thread) => describeLate(thread, opName)).join("; ")}. ` +
        `systemd restarts the kubelet if this lasts; pods go on running`,
    );
  };
  const timer = clock.every(intervalMs, look).unref();
  return () => timer.cancel();
}
