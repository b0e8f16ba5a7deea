// One manifest file in the file source: the pods that it delivered last, and its current problem.
//
//   unknown ──examine──▶ good (pods) ──changed──▶ examine …
//      │                   ▲
//      └──▶ held ──────────┤   broken, but written less than a second ago: perhaps only half of it is there
//            │  settled    │
//            └──▶ broken ──┘   reported once per content; the last good pods stay as long as the file exists
//
// Always holds: one examination at a time; the same content is decoded and reported once; a removed file has no pods. A
// content that is too large beside the other files is refused, and tried again with each scan.

import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { MANIFESTS_BYTES } from "../../../shared/contracts/manifests.js";
import { ManifestError, warningText, type ManifestWarning } from "../../../shared/kubernetes/api/manifest/violation.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { LATE_TRIES } from "./decode-deadline.js";
import { decodeInPool, type DecodeOptions } from "./decode-job.js";
import type { ManifestRoom } from "./manifest-room.js";
import type { ManifestSet } from "./manifest-set.js";
import { refusalOf, unreadable, warningProblems, type ManifestState, type Refusal } from "./manifest-state.js";
import { currentSignature, readManifest, type FileSignature, type ReadOutcome } from "./read-manifest.js";

/** A broken file this young may be half-written. */
const SETTLE_MS = 1_000;
const HELD_POLL_MS = 100;
/** A text cut in mid-line is likely to be half-written although it decodes: it is examined again after this time. */
const CUT_MS = 25;
/** Larger contents are not kept for comparison. */
const KEPT_BYTES = 64 * 1024;

export interface ManifestFileOptions {
  path: string;
  decode: DecodeOptions;
  clock: Clock;
  log: Logger;
  set: Pick<ManifestSet<ManifestFile>, "change">;
  room: Pick<ManifestRoom, "takes" | "of" | "releases">;
}

export class ManifestFile {
  pods: readonly Pod[] = [];
  /** False until the first content was accepted or refused for good. */
  settled = false;
  /** False after the removal of the file. */
  exists = true;
  /** Why its present content makes no pod. */
  refused: Refusal | undefined;
  /** Those of the last accepted content. */
  warnings: ManifestState["warnings"] = [];

  private signature: FileSignature | undefined;
  private bytes: Buffer | undefined;
  private reported: { signature: FileSignature; message: string } | undefined;
  private held: { signature: FileSignature; since: number } | undefined;
  private holdTimer: Timer | undefined;
  private running: Promise<void> | undefined;
  private again = false;
  /** The pods of the removed file; a file that appeared since then is another one. */
  private lost: { pods: readonly Pod[]; signature: FileSignature | undefined } | undefined;
  /** Deadlines missed before the first verdict. */
  private lateTries = 0;

  constructor(private readonly options: ManifestFileOptions) {}

  /** Examines the file and acts on changes. Calls during an examination cause one more. */
  examine(): Promise<void> {
    this.again = true;
    this.running ??= this.examineAll().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** The file was removed, even if another is there now: at the next examination its pods go before others come. */
  removed(): void {
    this.lost = { pods: this.pods, signature: this.signature };
  }

  stop(): void {
    this.holdTimer?.cancel();
    this.again = false;
  }

  private async examineAll(): Promise<void> {
    while (this.again && !this.isStopped()) {
      this.again = false;
      try {
        await this.examineOnce();
      } catch (error) {
        if (this.isStopped()) return;
        this.options.log.error(
          { path: this.options.path, err: error },
          `manifest ${this.options.path} could not be examined`,
        );
        this.setPods([...this.pods]);
      }
    }
  }

  private isStopped(): boolean {
    return this.options.decode.signal.aborted;
  }

  private async examineOnce(): Promise<void> {
    await this.giveUpLost();
    const outcome = await readManifest(this.options.path, this.signature);
    if (outcome === undefined) return;
    switch (outcome.kind) {
      case "missing":
      case "ignored":
        this.gone();
        return;
      case "refused":
        this.refuse(outcome.signature, outcome.reason);
        return;
      case "content":
        await this.content(outcome);
    }
  }

  /** Does nothing if the current pods were read after the removal. */
  private async giveUpLost(): Promise<void> {
    const { lost } = this;
    this.lost = undefined;
    if (lost === undefined || lost.pods.length === 0 || lost.pods !== this.pods) return;
    const { path, log } = this.options;
    if ((await currentSignature(path)) === lost.signature) return;
    log.info({ path }, `manifest ${path} was removed; terminating its pod`);
    this.forget();
  }

  private gone(): void {
    this.exists = false;
    this.forget();
  }

  private forget(): void {
    this.release();
    this.options.room.releases(this.options.path);
    this.signature = undefined;
    this.bytes = undefined;
    this.refused = undefined;
    this.warnings = [];
    this.setPods([]);
  }

  private refuse(signature: FileSignature, reason: string, again = false): void {
    this.release();
    this.signature = again ? undefined : signature;
    this.bytes = undefined;
    if (this.pods.length === 0) this.options.room.releases(this.options.path);
    const violation = { field: "", reason: "forbidden", allowed: reason, line: 0, column: 0 } as const;
    const { clock, path } = this.options;
    const refusal = unreadable(reason, clock.now());
    this.report(new ManifestError(path, [violation]), refusal, signature);
    this.setPods([...this.pods]);
  }

  private async content({ signature, bytes, mtimeMs }: Extract<ReadOutcome, { kind: "content" }>): Promise<void> {
    const { path, decode, clock, room } = this.options;
    if (this.bytes?.equals(bytes) === true) {
      this.release();
      this.signature = signature;
      return;
    }
    if (this.held?.signature === signature && !this.isSettled(this.held.since, mtimeMs)) {
      this.examineLater(signature);
      return;
    }
    const kept = bytes.length <= KEPT_BYTES ? Buffer.from(bytes) : undefined;
    if (looksCut(bytes) && clock.now() - mtimeMs < CUT_MS) {
      await clock.sleep(CUT_MS, decode.signal);
      if ((await currentSignature(path)) !== signature) {
        this.again = true;
        return;
      }
    }
    const before = room.of(path);
    if (!room.takes(path, bytes.length)) {
      this.refuse(signature, `the files of its folder may have ${MANIFESTS_BYTES / 2 ** 20} MiB together`, true);
      return;
    }
    const decoded = await decodeInPool({ kind: "file", path }, bytes, decode, this.lateTries);
    if ((await currentSignature(path)) !== signature) {
      // It changed while it was read: the decoded text may be neither the old nor the new version.
      this.again = true;
      return;
    }
    if (decoded.error === undefined) {
      this.accept(signature, kept, decoded.pods, decoded.warnings);
      return;
    }
    room.takes(path, before);
    if (decoded.late === true && !this.settled && this.lateTries < LATE_TRIES - 1) {
      // After a restart the file's pod may be running: a busy machine must not count as a file without pods.
      this.lateTries++;
      this.report(decoded.error, refusalOf(decoded.error, decoded.claims, clock.now()), signature);
      this.again = true;
      return;
    }
    if (!this.isSettled(this.held?.signature === signature ? this.held.since : clock.monotonic(), mtimeMs)) {
      this.examineLater(signature);
      return;
    }
    this.release();
    // Without a signature the next scan tries again: the fault may have been the machine's.
    this.signature = decoded.retry ? undefined : signature;
    this.bytes = decoded.retry ? undefined : kept;
    this.report(decoded.error, refusalOf(decoded.error, decoded.claims, clock.now()), signature);
    this.setPods([...this.pods]);
  }

  private accept(signature: FileSignature, kept: Buffer | undefined, pods: Pod[], warnings: ManifestWarning[]): void {
    const { path, log, clock } = this.options;
    this.release();
    this.exists = true;
    this.signature = signature;
    this.bytes = kept;
    if (this.reported !== undefined) log.info({ path }, `manifest ${path} is readable again`);
    this.reported = undefined;
    this.refused = undefined;
    this.warnings = warningProblems(warnings, clock.now());
    for (const warning of warnings) log.warn({ path, ...warning }, warningText(path, warning));
    this.setPods(pods);
  }

  private isSettled(since: number, mtimeMs: number): boolean {
    const { clock } = this.options;
    return clock.now() - mtimeMs >= SETTLE_MS || clock.monotonic() - since >= SETTLE_MS;
  }

  private examineLater(signature: FileSignature): void {
    const { clock } = this.options;
    if (this.held?.signature !== signature) this.held = { signature, since: clock.monotonic() };
    this.holdTimer?.cancel();
    this.holdTimer = clock.after(HELD_POLL_MS, () => void this.examine());
  }

  private release(): void {
    this.held = undefined;
    this.holdTimer?.cancel();
  }

  /** Once per content: neither a second try nor a mere touch of the file is news. */
  private report(error: ManifestError, refusal: Refusal, signature: FileSignature): void {
    const known = this.reported?.signature === signature || this.reported?.message === error.message;
    this.reported = { signature, message: error.message };
    this.refused = known ? { ...refusal, since: this.refused?.since ?? refusal.since } : refusal;
    if (known) return;
    const { path, log } = this.options;
    const kept = this.pods.length === 0 ? "" : "; the pod of its last good version keeps running";
    log.error({ path, violations: error.violations }, `${error.message}${kept}`);
  }

  private setPods(pods: readonly Pod[]): void {
    this.options.set.change(this, () => {
      this.settled = true;
      this.lateTries = 0;
      this.pods = pods;
    });
  }
}

/** True if the last line has no end, unless the text is JSON, whose end is known. */
function looksCut(bytes: Buffer): boolean {
  const last = bytes.at(-1);
  return last !== 0x0a && last !== 0x7d;
}
