// Sends messages to systemd over its notify socket: ready, stopping, a status line, watchdog.
// Invariant: a message never throws into the caller and never blocks; a message that cannot be delivered is logged
// once.

import { systemClock, type Clock } from "../../../shared/base/clock/clock.js";
import { sendDatagram } from "../../../shared/io/os/datagram.js";
import { isOsCallError } from "../../../shared/io/os/errors.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

export interface SystemdNotifier {
  /** READY=1: the unit is up; from here on systemd expects `watchdog()` if the unit sets WatchdogSec. */
  ready(status: string): void;
  /** STOPPING=1 */
  stopping(): void;
  /** STATUS=…: one line, shown by `systemctl status`. */
  status(text: string): void;
  /** WATCHDOG=1 */
  watchdog(): void;
  /** Resolves when all messages so far are delivered or given up, within DELIVERY_MS. */
  flush(): Promise<void>;
}

/** A full queue (systemd is busy, or reloads) is tried again this often, for this long, ms. */
const RETRY_MS = 50;
const DELIVERY_MS = 5_000;
/** Above this limit the oldest message is dropped: only the newest status matters. */
const MAX_WAITING = 16;

/**
 * undefined when the parent process (systemd) does not listen: NOTIFY_SOCKET is unset or empty.
 * The variable stays in the environment, for a program that replaces this one.
 * @param send For tests; the default is the real socket.
 */
export function systemdNotifier(
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Logger, "warn">,
  clock: Pick<Clock, "sleep" | "monotonic"> = systemClock,
  send: (to: string, text: string) => void = sendDatagram,
): SystemdNotifier | undefined {
  const socket = env["NOTIFY_SOCKET"];
  if (socket === undefined || socket === "") return undefined;
  const outbox = new Outbox((text) => send(socket, text), socket, log, clock);
  return {
    ready: (status) => outbox.post(`READY=1\nSTATUS=${oneLine(status)}`),
    stopping: () => outbox.post("STOPPING=1"),
    status: (text) => outbox.post(`STATUS=${oneLine(text)}`),
    watchdog: () => outbox.post("WATCHDOG=1"),
    flush: () => outbox.drained,
  };
}

/** A newline would begin another variable. */
function oneLine(text: string): string {
  const lines = text.split(/[\r\n]+/);
  const last = lines.length - 1;
  const trimmed = lines.map((line, at) => {
    const begun = at === 0 ? line : line.trimStart();
    return at === last ? begun : begun.trimEnd();
  });
  return trimmed.filter((line, at) => line !== "" || at === 0 || at === last).join(" ");
}

/** Sends at once; keeps the order while the receiver's queue is full. */
class Outbox {
  /** Settled while nothing waits. */
  drained: Promise<void> = Promise.resolve();
  private readonly waiting: string[] = [];
  private draining = false;
  private complained = false;

  constructor(
    private readonly send: (text: string) => void,
    private readonly socket: string,
    private readonly log: Pick<Logger, "warn">,
    private readonly clock: Pick<Clock, "sleep" | "monotonic">,
  ) {}

  post(text: string): void {
    if (!this.draining && this.sent(text)) return;
    this.waiting.push(text);
    if (this.waiting.length > MAX_WAITING) this.waiting.shift();
    if (this.draining) return;
    this.draining = true;
    this.drained = this.drain();
  }

  private async drain(): Promise<void> {
    const until = this.clock.monotonic() + DELIVERY_MS;
    while (this.waiting.length > 0 && this.clock.monotonic() < until) {
      await this.clock.sleep(RETRY_MS);
      while (this.waiting[0] !== undefined && this.sent(this.waiting[0])) this.waiting.shift();
    }
    if (this.waiting.length > 0) this.warnOnce(new Error(`its queue was full for ${DELIVERY_MS} ms`));
    this.waiting.length = 0;
    this.draining = false;
  }

  /** False when it is worth another try. */
  private sent(text: string): boolean {
    try {
      this.send(text);
      return true;
    } catch (error) {
      if (isOsCallError(error, "EAGAIN") || isOsCallError(error, "ENOBUFS")) return false;
      this.warnOnce(error);
      return true;
    }
  }

  private warnOnce(error: unknown): void {
    if (this.complained) return;
    this.complained = true;
    this.log.warn(
      { err: error, socket: this.socket },
      `cannot notify systemd at ${this.socket}: the unit may time out waiting for READY=1 or WATCHDOG=1. ` +
        `Check NOTIFY_SOCKET, and NotifyAccess= of the unit. Not logged again`,
    );
  }
}
