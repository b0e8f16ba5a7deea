// While the kubelet runs: watches the configuration source and applies each new configuration.
//
//   changed ──settled──▶ read ──▶ validate ──▶ checkpoint, assigned ──▶ in place, or restart
//                         │          └─refused: reported once, the old configuration stays
//                         └─same as the running configuration: nothing
//
// Invariant: one change is processed at a time and abandoned when another arrives; a refused configuration or one that is
// marked bad is never assigned; restarts are at least MIN_RESTART_MS apart (each is a new kubelet process).
import { digestOf, shortDigest, type ConfigFiles } from "./config-files.js";
import { knownBad } from "./decide.js";
import { CHANGED_REASON, type DynamicConfig } from "./dynamic-config.js";
import { isSourceReadError } from "./errors.js";
import { Settle } from "./settle.js";
import type { SourceWatch } from "./source.js";
import { TrialWatch } from "./trial.js";
import { messageOf } from "../../../shared/errors/thrown.js";
const SETTLE_MS = 500;
const LONGEST_WAIT_MS = 5_000;
const MIN_RESTART_MS = 10_000;

export interface FollowOptions {
  /** Whether the kubelet is healthy now, as /healthz has it. */
  readonly healthy: () => boolean;
  /** Ends everything in order (FollowedConfig.stop() included) and replaces the process; pods live on. Only a failure settles. */
  readonly restartInPlace: (reason: string) => Promise<never>;
  /** Paths of the effective configuration that differ, e.g. "logging.verbosity". */
  readonly changedPaths: (before: ConfigFiles, after: ConfigFiles) => Promise<readonly string[]>;
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
  private readonly abort = new AbortController();
  private watch: SourceWatch | undefined;
  private trial: TrialWatch | undefined;
  private restarting = false;
  private writes: Promise<void> = Promise.resolve();
  private refusedDigest: string | undefined;
  private unreadable = 0;

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
    this.watch = this.dynamic.options.source.watch(() => this.settle.changed());
  }

  async stop(): Promise<void> {
    this.abort.abort(new Error("stopped watching the configuration"));
    const trial = this.trial;
    trial?.stop();
    await this.watch?.stop();
    // A restart under way waits for this very call.
    if (!this.restarting) await this.settle.stop();
    await this.writes;
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
    if (good === undefined) {
      dynamic.options.log.warn({}, `not healthy yet under configuration ${shortDigest(digest)}, the first one here`);
      this.beginTrial();
      return;
    }
    this.writes = this.writes.then(() => dynamic.trialFailed(digest, "the kubelet did not become healthy under it"));
    const back = `going back to configuration ${shortDigest(good.digest)}`;
    void this.writes.then(() => this.guarded(() => this.restart(back, () => dynamic.active?.digest !== digest)));
  }

  private async guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.dynamic.report(`cannot apply the changed configuration: ${messageOf(error)}`);
    }
  }

  private async examine(isOld: () => boolean): Promise<void> {
    const { dynamic } = this;
    const files = await this.read();
    if (files === undefined || isOld()) return;
    const digest = await digestOf(files);
    if (digest === dynamic.active?.digest) {
      await this.sameAsActive(digest);
      return;
    }
    const bad = knownBad(dynamic.meta.bad, digest);
    if (bad !== undefined) {
      // The start has already reported why it left the assigned configuration.
      const isReported = dynamic.status().error !== undefined && dynamic.meta.get("assigned")?.digest === digest;
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
      const files = await this.dynamic.options.source.read();
      this.unreadable = 0;
      return files;
    } catch (error) {
      if (!isSourceReadError(error)) throw error;
      if (++this.unreadable > 1) this.dynamic.report(error.message);
      else this.settle.changed();
      return undefined;
    }
  }

  private async sameAsActive(digest: string): Promise<void> {
    this.refusedDigest = undefined;
    if (this.dynamic.meta.get("assigned")?.digest !== digest) await this.dynamic.meta.point("assigned", digest);
    this.dynamic.report(undefined);
  }

  private async assign(digest: string, files: ConfigFiles): Promise<void> {
    const { meta, checkpoints, options } = this.dynamic;
    this.refusedDigest = undefined;
    await checkpoints.save(digest, files, options.source.name);
    await meta.point("assigned", digest);
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
    await this.restart(`applying configuration ${shortDigest(digest)}`, isOld);
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
    options.record({ type: "Normal", reason: CHANGED_REASON, message });
    options.log.info({ digest }, message);
  }

  private async restart(what: string, isOld: () => boolean): Promise<void> {
    const { clock, log, record } = this.dynamic.options;
    const early = this.startedAt + MIN_RESTART_MS - clock.monotonic();
    if (early > 0) await clock.sleep(early, this.abort.signal);
    if (isOld() || this.restarting || this.abort.signal.aborted) return;
    const message = `the kubelet restarts, ${what}`;
    record({ type: "Normal", reason: CHANGED_REASON, message });
    log.info({}, message);
    this.restarting = true;
    try {
      await this.options.restartInPlace(message);
    } catch (error) {
      this.dynamic.report(`the restart failed (${what}): ${messageOf(error)}; restart the kubelet by hand`);
    } finally {
      this.restarting = false;
    }
  }
}

// Fields a running kubelet takes over without a restart. Everything else is read once at start, by parts that would each
// have to learn to change: a restart keeps the pods running and is the one way that holds for all of them.

const IN_PLACE_FIELDS: readonly string[] = ["logging.verbosity"];

/** `changed`: paths of the configuration, with or without [index] or [key]. */
function allInPlace(changed: readonly string[]): boolean {
  return changed.every((path) =>
    IN_PLACE_FIELDS.some((field) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`)),
  );
}
