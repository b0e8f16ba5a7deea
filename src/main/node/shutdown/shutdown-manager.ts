// Graceful node shutdown. It holds an inhibitor lock of logind. At the shutdown signal it terminates the pods while
// logind waits, then it releases the lock.
//
//   up ── PrepareForShutdown true ──► ending ── pods ended, or out of time ──► ended (lock released)
//    ▲                                  │                                        │
//    └──────────── PrepareForShutdown false: nothing further is ended ───────────┘   (lock taken anew)
//
// Invariant: while ending and ended the node reports the shutdown and admits no pod; the lock is always released. If
// the bus or logind is lost, the manager reconnects every second and then reads the current state.

import { Lifetime, StoppingError } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { totalSeconds, type ShutdownGroup } from "../../command/shutdown-groups.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import { endByGroup, type EndingPods } from "./end-groups.js";
import { BusAddressError, InhibitDelayTooShortError, busLostError } from "./errors.js";
import { ensureInhibitDelay } from "./inhibit-delay.js";
import { type InhibitLock } from "./inhibit-lock.js";
import type { Logind } from "./logind.js";
import type { ShutdownTimes } from "./shutdown-state.js";

const RECONNECT_MS = 1000;

export interface ShutdownManagerDeps {
  groups: readonly ShutdownGroup[];
  pods: EndingPods;
  /** The node shuts down, or does not any more: for its status and for admission. */
  onShuttingDown: (shuttingDown: boolean) => void;
  events: Pick<EventRecorder, "node">;
  connect: () => Promise<Logind>;
  takeLock: (signal: AbortSignal) => Promise<InhibitLock>;
  /** Directory of logind's drop-ins. */
  confDir: string;
  /** Records when the shutdown began and ended; absent: the times are not recorded. */
  noteTimes?: ((times: ShutdownTimes) => Promise<void>) | undefined;
  clock: Clock;
  log: Logger;
}

interface Ending {
  abort: AbortController;
  /** All that could be ended was, and the lock is released. */
  over: boolean;
}

export class ShutdownManager {
  private readonly lifetime = new Lifetime();
  private running: Promise<void> | undefined;
  /** The shutdown under way; absent while the node is up. */
  private ending: Ending | undefined;
  /** One shutdown after the other. */
  private endings: Promise<void> = Promise.resolve();
  private lock: InhibitLock | undefined;
  /** Locks are taken one after the other. */
  private locking: Promise<void> = Promise.resolve();
  private reportedProblem = "";

  constructor(private readonly deps: ShutdownManagerDeps) {}

  get shuttingDown(): boolean {
    return this.ending !== undefined;
  }

  private isStopped(): boolean {
    return this.lifetime.hasEnded;
  }

  start(): void {
    this.running = this.run();
  }

  /** Pods that are being ended are left to the next kubelet. */
  async stop(): Promise<void> {
    this.lifetime.end();
    this.ending?.abort.abort(new StoppingError());
    await Promise.all([this.running, this.endings, this.locking]);
    this.release();
  }

  private async run(): Promise<void> {
    const { clock, log } = this.deps;
    while (!this.isStopped()) {
      try {
        await this.session();
      } catch (error) {
        if (this.isStopped()) return;
        if (error instanceof InhibitDelayTooShortError || error instanceof BusAddressError) {
          log.error({ err: error }, `graceful node shutdown is not available: ${errorText(error)}`);
          return;
        }
        this.reportProblem(error);
      }
      await clock.sleep(RECONNECT_MS, this.lifetime.signal).catch(() => undefined);
    }
  }

  /** From one connection to its end. */
  private async session(): Promise<void> {
    const { deps } = this;
    const { signal } = this.lifetime;
    const logind = await deps.connect();
    const close = (): void => logind.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      signal.throwIfAborted();
      await logind.watch((preparing) => this.onPrepare(preparing));
      const needMs = totalSeconds(deps.groups) * 1000;
      await ensureInhibitDelay(needMs, { logind, confDir: deps.confDir, clock: deps.clock, log: deps.log, signal });
      // The kubelet missed signals while it was not subscribed: before its start or before logind's restart.
      const preparing = await logind.preparing();
      if (preparing !== this.shuttingDown) this.onPrepare(preparing);
      else if (!preparing) await this.acquireLock();
      this.reportRecovery();
      await logind.lost;
      signal.throwIfAborted();
      throw busLostError("the wait for a shutdown");
    } finally {
      signal.removeEventListener("abort", close);
      logind.close();
    }
  }

  private onPrepare(preparing: boolean): void {
    if (this.isStopped() || preparing === this.shuttingDown) return;
    const { events, onShuttingDown, log } = this.deps;
    const message = `Shutdown manager detected shutdown ${preparing ? "event" : "cancellation"}`;
    const before = this.ending;
    const ending = preparing ? { abort: new AbortController(), over: false } : undefined;
    this.ending = ending;
    onShuttingDown(preparing);
    events.node({ type: "Normal", reason: "Shutdown", message });
    if (ending === undefined) {
      before?.abort.abort(new Error("the shutdown was cancelled"));
      void this.retryLock();
      return;
    }
    this.endings = this.endings
      .then(() => this.end(ending))
      .catch((error: unknown) => {
        log.error({ err: error }, `shutdown: cannot kill the pods: ${errorText(error)}`);
      });
  }

  private async end(ending: Ending): Promise<void> {
    const { groups, pods, noteTimes, clock, log } = this.deps;
    const { signal } = ending.abort;
    const start = clock.now();
    // Not waited for: the disk may be slow, and the time is the pods'.
    const noted = noteTimes?.({ start });
    try {
      await endByGroup(groups, { pods, clock, log, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      log.info(`shutdown: killing no further pod: ${errorText(error)}`);
    } finally {
      await noted;
      await noteTimes?.({ start, end: clock.now() });
      if (!signal.aborted) {
        ending.over = true;
        this.release();
      }
    }
    const took = ((clock.now() - start) / 1000).toFixed(1);
    if (ending.over) log.info(`shutdown: terminated the pods in ${took} s; the machine can shut down`);
  }

  /** Takes the lock; an older one is let go of only then. */
  private acquireLock(): Promise<void> {
    const taken = this.locking.then(async () => {
      if (this.isStopped() || this.shuttingDown) return;
      const lock = await this.deps.takeLock(this.lifetime.signal);
      this.release();
      // The lock came so late that the shutdown manager no longer needs it.
      if (this.isStopped() || this.ending?.over === true) {
        lock.release();
        return;
      }
      this.lock = lock;
      void lock.gone.then(() => this.onGone(lock));
    });
    this.locking = taken.catch(() => undefined);
    return taken;
  }

  /**
   * Takes the lock, and tries again while no lock is held. After a refusal nothing else would try: the connection to
   * logind stays.
   */
  private async retryLock(): Promise<void> {
    const { signal } = this.lifetime;
    do {
      try {
        await this.acquireLock();
        if (this.lock !== undefined) this.reportRecovery();
        return;
      } catch (error) {
        this.reportProblem(error);
      }
      await this.deps.clock.sleep(RECONNECT_MS, signal).catch(() => undefined);
    } while (this.lock === undefined && !this.isStopped());
  }

  /** The lock was lost although the manager did not release it: another process ended its holder. */
  private onGone(lock: InhibitLock): void {
    if (this.lock !== lock) return;
    this.lock = undefined;
    if (this.isStopped() || this.shuttingDown) return;
    const { clock, log } = this.deps;
    log.warn("systemd-inhibit exited and released the shutdown inhibitor lock; acquiring it again");
    clock.sleep(RECONNECT_MS, this.lifetime.signal).then(
      () => (this.lock === undefined ? this.retryLock() : undefined),
      () => undefined,
    );
  }

  private release(): void {
    const { lock } = this;
    this.lock = undefined;
    lock?.release();
  }

  private reportRecovery(): void {
    if (this.reportedProblem !== "")
      this.deps.log.info("connected to logind; the inhibitor lock delays the node's shutdown for pods");
    this.reportedProblem = "";
  }

  /** One line per problem, however often it is met. */
  private reportProblem(problem: unknown): void {
    const text = errorText(problem);
    if (text === this.reportedProblem || this.isStopped()) return;
    this.reportedProblem = text;
    this.deps.log.warn({ err: problem }, `the kubelet does not delay the node's shutdown at the moment: ${text}`);
  }
}
