// While the kubelet runs: watches the configuration source and applies each new configuration.
//
//   changed ──settled──▶ read ──▶ validate ──▶ checkpoint, assigned ──▶ in place, or restart
//                         │          └─refused: reported once, the old configuration stays
//                         └─same as the running configuration: nothing
//
// Invariant: one change is processed at a time and abandoned when another arrives; a refused configuration or one that
// is marked bad is never assigned; restarts are at least MIN_RESTART_MS apart (each is a new kubelet process), and a
// flood of changes makes them rare (restart-budget.ts); the event of a restart is on disk until the API server has it.

import { isDeepStrictEqual } from "node:util";
import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { digestOf, shortDigest, type ConfigFiles } from "./config-files.js";
import { knownBad } from "./decide.js";
import { CHANGED_REASON, type DynamicConfig } from "./dynamic-config.js";
import { SourceReadError } from "./errors.js";
import { allInPlace } from "./in-place-fields.js";
import { recentRestarts, restartWait } from "./restart-budget.js";
import { restartMessage } from "./restart-message.js";
import { Settle } from "./settle.js";
import type { SourceWatch } from "./source.js";
import { TrialWatch } from "./trial.js";
const SETTLE_MS = 500;
const LONGEST_WAIT_MS = 5_000;
const MIN_RESTART_MS = 5_000;
/** Time that a restart gives to its event. The next process sends an event that was not sent. */
const EVENT_MS = 2_000;

export interface FollowOptions {
  /** Whether the kubelet is healthy now, as /healthz has it. */
  readonly healthy: () => boolean;
  /**
   * Ends everything in order (FollowedConfig.stop() included) and replaces the process; pods live on. Only a failure
   * settles.
   */
  readonly restartInPlace: (reason: string) => Promise<never>;
  /** Paths of the effective configuration that differ, e.g. "logging.verbosity". */
  readonly changedPaths: (before: ConfigFiles, after: ConfigFiles) => Promise<readonly string[]>;
  /** Resolves when the API server has got, or refused, all events recorded so far; at once on a node without one. */
  readonly eventsSent: () => Promise<void>;
  /** Takes over fields of IN_PLACE_FIELDS, all or none; false: a restart is needed. */
  readonly applyInPlace: (changed: readonly string[], files: ConfigFiles) => Promise<boolean>;
}

export interface FollowedConfig {
  /** Ends in order: this start no longer counts against a configuration on trial. Safe within restartInPlace. */
  stop(): Promise<void>;
}

/** Begins right after the start: the time apart of restarts is counted from here. */
export function followConfiguration(dynamic: DynamicConfig, options: FollowOptions): FollowedConfig {
  const follower = new Follower(dynamic, options);
  follower.start();
  return follower;
}

class Follower implements FollowedConfig {
  private readonly startedAt: number;
  private readonly settle: Settle;
  private readonly lifetime = new Lifetime();
  private watch: SourceWatch | undefined;
  private trial: TrialWatch | undefined;
  private restarting = false;
  private writes: Promise<void> = Promise.resolve();
  private refusedDigest: string | undefined;
  private unreadable = 0;
  private announcing: Promise<void> | undefined;

  constructor(
    private readonly dynamic: DynamicConfig,
    private readonly options: FollowOptions,
  ) {
    const { clock } = dynamic.options;
    this.startedAt = clock.monotonic();
    this.settle = new Settle({
      clock,
      unchangedMs: SETTLE_MS,
      longestMs: LONGEST_WAIT_MS,
      act: (isOld) => this.guarded(() => this.examine(isOld)),
    });
  }

  start(): void {
    this.beginTrial();
    this.announcing = this.announceAgain();
    this.watch = this.dynamic.options.source.watch(() => this.settle.changed());
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    const trial = this.trial;
    trial?.stop();
    await this.watch?.stop();
    // A restart under way waits for this very call.
    if (!this.restarting) await this.settle.stop();
    await this.writes;
    await this.announcing;
    if (trial?.everHealthy === true) await this.dynamic.endedInOrder();
    await this.dynamic.flush();
  }

  private beginTrial(): void {
    const { dynamic } = this;
    this.trial?.stop();
    this.trial = undefined;
    const digest = dynamic.active?.digest;
    if (digest === undefined || dynamic.meta.get("trial")?.digest !== digest) return;
    this.trial = new TrialWatch({
      clock: dynamic.options.clock,
      healthy: this.options.healthy,
      onPassed: () => {
        this.trial = undefined;
        this.writes = this.writes.then(() => dynamic.trialPassed(digest));
      },
      onNeverHealthy: () => this.neverHealthy(digest),
    });
  }

  /** Returns to the last known good configuration by a restart; without one, the trial continues. */
  private neverHealthy(digest: string): void {
    const { dynamic } = this;
    const good = dynamic.meta.get("last-known-good");
    if (good === undefined && dynamic.active?.files.configMap === undefined) {
      dynamic.options.log.warn({}, `not healthy yet under configuration ${shortDigest(digest)}, the first one here`);
      this.beginTrial();
      return;
    }
    this.writes = this.writes.then(() => dynamic.trialFailed(digest, "the kubelet did not become healthy under it"));
    const back = good === undefined ? "the node's own files" : `configuration ${shortDigest(good.digest)}`;
    const message = `the kubelet restarts, going back to ${back}`;
    const isOld = (): boolean => dynamic.active?.digest !== digest;
    void this.writes.then(() =>
      this.guarded(() => this.restart({ digest: good?.digest, message, isOld, isRollBack: true })),
    );
  }

  private async guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (this.lifetime.hasEnded) return;
      this.dynamic.report(`cannot apply the changed configuration: ${messageOf(error)}`);
    }
  }

  private async examine(isOld: () => boolean): Promise<void> {
    const { dynamic } = this;
    const files = await this.read();
    if (files === undefined || isOld()) return;
    const digest = await digestOf(files);
    if (digest === dynamic.active?.digest) {
      await this.sameAsActive(digest, files);
      return;
    }
    const bad = knownBad(dynamic.meta.bad, digest);
    if (bad !== undefined) {
      // The start has already reported why it left the assigned configuration.
      const isReported = dynamic.hasFailed && dynamic.meta.get("assigned")?.digest === digest;
      if (!isReported) dynamic.report(bad);
      return;
    }
    if (digest === this.refusedDigest) return;
    const validation = await dynamic.validate(files);
    if (isOld()) return;
    if (!validation.ok) {
      this.refusedDigest = digest;
      dynamic.report(`configuration ${shortDigest(digest)} is not valid: ${validation.problems.join("; ")}`);
      return;
    }
    await this.assign(digest, files);
    await this.takeOver(digest, files, isOld);
  }

  /** Undefined when there is nothing to read; a problem is reported only when a second read finds it again. */
  private async read(): Promise<ConfigFiles | undefined> {
    try {
      const files = await this.dynamic.read();
      this.unreadable = 0;
      this.dynamic.reportSource();
      return files;
    } catch (error) {
      if (!(error instanceof SourceReadError)) throw error;
      if (++this.unreadable > 1) this.dynamic.report(error.message);
      else this.settle.changed();
      return undefined;
    }
  }

  private async sameAsActive(digest: string, files: ConfigFiles): Promise<void> {
    const { dynamic } = this;
    const { meta, checkpoints, options } = dynamic;
    this.refusedDigest = undefined;
    if (!isDeepStrictEqual(dynamic.active?.files.configMap, files.configMap)) {
      // The same text in a ConfigMap that was made again: no trial, but its UID and resourceVersion are shown.
      await checkpoints.save(digest, files, options.source.name);
      if (meta.get("last-known-good")?.digest === digest) await meta.point("last-known-good", digest, files.configMap);
      await dynamic.activate({ digest, files });
    }
    await meta.point("assigned", digest, files.configMap);
    dynamic.report(undefined);
  }

  private async assign(digest: string, files: ConfigFiles): Promise<void> {
    const { meta, checkpoints, options } = this.dynamic;
    this.refusedDigest = undefined;
    await checkpoints.save(digest, files, options.source.name);
    await meta.point("assigned", digest, files.configMap);
    this.dynamic.report(undefined);
    await this.dynamic.prune();
  }

  private async takeOver(digest: string, files: ConfigFiles, isOld: () => boolean): Promise<void> {
    const { dynamic } = this;
    const before = dynamic.active?.files;
    if (before !== undefined) {
      const changed = await this.options.changedPaths(before, files);
      if (isOld()) return;
      if (allInPlace(changed) && (changed.length === 0 || (await this.options.applyInPlace(changed, files)))) {
        await this.runsWith(digest, files, changed);
        return;
      }
    }
    await this.restart({ digest, message: restartMessage(digest, files, before), isOld, isRollBack: false });
  }

  private async runsWith(digest: string, files: ConfigFiles, changed: readonly string[]): Promise<void> {
    const { dynamic } = this;
    const { meta, options } = dynamic;
    await dynamic.attempt("record the trial", () =>
      meta.get("last-known-good")?.digest === digest
        ? meta.set("trial", undefined)
        : meta.set("trial", { digest, since: meta.time(), starts: 1 }),
    );
    await dynamic.activate({ digest, files });
    this.beginTrial();
    const what = changed.length === 0 ? "no value changed" : `changed without a restart: ${changed.join(", ")}`;
    const message = `running with configuration ${shortDigest(digest)}: ${what}`;
    dynamic.event({ type: "Normal", reason: CHANGED_REASON, message });
    options.log.info({ digest }, message);
  }

  private async restart({ digest, message, isOld, isRollBack }: Restart): Promise<void> {
    const { dynamic } = this;
    const { clock, log } = dynamic.options;
    const times = dynamic.meta.get("restarts")?.times ?? [];
    const early = this.startedAt + MIN_RESTART_MS - clock.monotonic();
    const budget = isRollBack ? 0 : restartWait(times, clock.now());
    if (budget > early && budget > 0) {
      const seconds = Math.ceil(budget / 1000);
      log.warn(
        {},
        `a changed configuration waits ${seconds} s: changes restarted the kubelet too often in the last hour`,
      );
    }
    const wait = Math.max(early, budget);
    if (wait > 0) await clock.sleep(wait, this.lifetime.signal);
    if (isOld() || this.restarting || this.lifetime.hasEnded) return;
    this.restarting = true;
    try {
      const recent = [...recentRestarts(times, clock.now()), clock.now()];
      if (!isRollBack)
        await dynamic.attempt("record the restart", () => dynamic.meta.set("restarts", { times: recent }));
      await this.announce(digest, message);
      log.info({}, message);
      await this.options.restartInPlace(message);
    } catch (error) {
      dynamic.report(`the restart failed (${message}): ${messageOf(error)}; restart the kubelet manually`);
    } finally {
      this.restarting = false;
    }
  }

  private async announce(digest: string | undefined, message: string): Promise<void> {
    const { dynamic } = this;
    const { clock } = dynamic.options;
    await dynamic.attempt("record the event of the restart", () =>
      dynamic.meta.set("announcement", digest === undefined ? undefined : { digest, message, sent: false }),
    );
    dynamic.event({ type: "Normal", reason: CHANGED_REASON, message });
    const late = new AbortController();
    const timer = clock.after(EVENT_MS, () => late.abort(new Error("the restart does not wait longer for its event")));
    await this.sent(late.signal);
    timer.cancel();
  }

  /** The previous process ended before the API server had the event of its restart. */
  private async announceAgain(): Promise<void> {
    const { dynamic } = this;
    const announcement = dynamic.meta.get("announcement");
    if (announcement === undefined || announcement.sent) return;
    dynamic.event({ type: "Normal", reason: CHANGED_REASON, message: announcement.message });
    await this.sent(this.lifetime.signal);
  }

  /** Until the signal; then the announcement stays on disk. */
  private async sent(signal: AbortSignal): Promise<void> {
    try {
      await unlessAborted(this.options.eventsSent(), signal);
    } catch (error) {
      if (error !== signal.reason) throw error;
      return;
    }
    const { dynamic } = this;
    const announcement = dynamic.meta.get("announcement");
    if (announcement === undefined) return;
    await dynamic.attempt("record that the event was sent", () =>
      dynamic.meta.set("announcement", { ...announcement, sent: true }),
    );
  }
}

interface Restart {
  /** To this configuration; undefined: the next process chooses. */
  readonly digest: string | undefined;
  readonly message: string;
  readonly isOld: () => boolean;
  /** Not counted among the restarts for changes, and not delayed by them. */
  readonly isRollBack: boolean;
}
