// The connection to systemd: opened on first use, shared by all operations, closed when idle. It is opened again when
// it is lost, because systemd re-executes itself on upgrades. On the private socket systemd sends every change of every
// unit, which an idle kubelet does not need.

import { Scope } from "../../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../../shared/base/abort/unless-aborted.js";
import type { Clock, Timer } from "../../../../shared/base/clock/clock.js";
import { Backoff } from "../../../../shared/base/turns/backoff.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { connectSystemd, type SystemdConnection } from "./systemd-connection.js";
import {
  SystemdConnectionLostError,
  type SystemdSubject,
  systemdUnreachableError,
  systemdDeadlineError,
} from "./systemd-errors.js";

export interface SystemdLinkOptions {
  socketPath: string;
  /** Milliseconds for one operation, connecting and its job included. */
  deadlineMs: number;
  clock: Clock;
  log: Logger;
}

export type SystemdTask<T> = (connection: SystemdConnection, signal: AbortSignal) => Promise<T>;

/**
 * Tries to connect and the pause before the second one; it doubles. Together 3.2 s, longer than a re-execution takes.
 */
const CONNECT_TRIES = 7;
const RETRY = { initialMs: 50 };
const CONNECT_DEADLINE_MS = 2000;
const PAUSE_CAP_MS = 2000;
const IDLE_MS = 5000;

export class SystemdLink {
  private connecting: Promise<SystemdConnection> | undefined;
  private connection: SystemdConnection | undefined;
  private users = 0;
  private idle: Timer | undefined;
  private readonly closed = new AbortController();

  constructor(private readonly options: SystemdLinkOptions) {}

  /**
   * Runs an operation. It must be safe to run twice: it runs again if the connection is lost meanwhile.
   * @throws OperatorError, and every error of the task
   */
  async run<T>(subject: SystemdSubject, task: SystemdTask<T>): Promise<T> {
    const { clock, log, deadlineMs } = this.options;
    const late = (): Error => systemdDeadlineError(subject, deadlineMs);
    using operation = new Scope(this.closed.signal).limit(clock, deadlineMs, late);
    const { signal } = operation;
    this.enter();
    try {
      for (const pauses = new Backoff({ ...RETRY, maxMs: PAUSE_CAP_MS }); ;) {
        try {
          return await task(await unlessAborted(this.connected(), signal), signal);
        } catch (error) {
          if (!(error instanceof SystemdConnectionLostError)) throw error;
          log.warn({ unit: subject.unit, err: error }, "lost the connection to systemd; reconnecting");
        }
        await clock.sleep(pauses.next(), signal);
      }
    } finally {
      this.leave();
    }
  }

  /** Operations under way fail. */
  close(): void {
    this.closed.abort(new Error("the kubelet closed the connection to systemd"));
    this.idle?.cancel();
    this.connection?.close();
  }

  private connected(): Promise<SystemdConnection> {
    if (this.connection?.open === true) return Promise.resolve(this.connection);
    this.connecting ??= this.connect().finally(() => {
      this.connecting = undefined;
    });
    return this.connecting;
  }

  private async connect(): Promise<SystemdConnection> {
    const { socketPath, clock } = this.options;
    const backoff = new Backoff(RETRY);
    for (let attempt = 1; ; attempt++) {
      try {
        this.connection = await this.attempt();
        this.connection.setIdle(this.users === 0);
        return this.connection;
      } catch (error) {
        this.closed.signal.throwIfAborted();
        if (attempt === CONNECT_TRIES) throw systemdUnreachableError(socketPath, attempt, error);
      }
      await clock.sleep(backoff.next(), this.closed.signal);
    }
  }

  private async attempt(): Promise<SystemdConnection> {
    const { socketPath, clock } = this.options;
    const late = (): Error => new Error(`no response within ${CONNECT_DEADLINE_MS / 1000} s`);
    using attempt = new Scope(this.closed.signal).limit(clock, CONNECT_DEADLINE_MS, late);
    return await connectSystemd(socketPath, attempt.signal);
  }

  private enter(): void {
    this.idle?.cancel();
    if (this.users++ === 0) this.connection?.setIdle(false);
  }

  private leave(): void {
    if (--this.users > 0 || this.closed.signal.aborted) return;
    this.connection?.setIdle(true);
    this.idle = this.options.clock.after(IDLE_MS, () => this.connection?.close()).unref();
  }
}
