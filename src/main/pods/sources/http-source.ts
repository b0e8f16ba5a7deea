// Static pods of a URL (staticPodURL): read every httpCheckFrequency; an unchanged body is not decoded again. Always
// holds: while the URL cannot be read or is broken, the last good set stays; each fault is logged once per change. An
// empty body is a fault and no pods, as upstream has it. (There the same list does not bring its pods back.)

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { Scope } from "../../../shared/base/abort/scope.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import { ManifestError, warningText } from "../../../shared/kubernetes/api/manifest/violation.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { decodeInPool, publicUrl, type DecodeOptions } from "./decode-job.js";
import { EmptyManifestError, fetchManifest, ManifestFetchError } from "./fetch-manifest.js";
import { refusalOf, unreadable, warningProblems, type ManifestState, type Refusal } from "./manifest-state.js";
import type { PodChanges } from "./pod-changes.js";

const TIMEOUT_MS = 10_000;

export interface HttpSourceOptions {
  url: string;
  header: Readonly<Record<string, readonly string[]>>;
  checkFrequencyMs: number;
  decode: Omit<DecodeOptions, "signal">;
  clock: Clock;
  log: Logger;
  /** Gets the whole set, each time it was read. */
  changes: Pick<PodChanges, "deliver">;
  /** What `manifests` returns has changed. */
  onManifests: () => void;
}

export class HttpSource {
  private readonly lifetime = new Lifetime();
  private readonly name: string;
  private last: Uint8Array | undefined;
  private complaint: string | undefined;
  private pods: readonly Pod[] = [];
  private warnings: ManifestState["warnings"] = [];
  /** Why the last body makes no pod. */
  private refused: Refusal | undefined;
  /** Why the URL cannot be read now. */
  private unread: Refusal | undefined;
  private readonly loop: Loop;

  constructor(private readonly options: HttpSourceOptions) {
    this.name = publicUrl(options.url);
    this.loop = new Loop({
      clock: options.clock,
      periodMs: options.checkFrequencyMs,
      round: async () => {
        await this.check();
        return undefined;
      },
      failed: (error) => {
        const why = error instanceof ManifestFetchError ? error.reason : messageOf(error);
        const since = this.unread?.since ?? this.options.clock.now();
        const changed = this.unread?.message !== why;
        if (isEmpty(error)) this.forget();
        this.unread = unreadable(why, since);
        this.reportOnce(error);
        if (changed) this.options.onManifests();
        return undefined;
      },
    });
  }

  start(): void {
    this.loop.start();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.loop.stop();
  }

  /** The URL, from the first response on. */
  *manifests(): Iterable<ManifestState> {
    const { name: origin, pods, warnings } = this;
    const refused = this.unread ?? this.refused;
    if (this.last === undefined && refused === undefined) return;
    yield { origin, source: "url", pods, refused, warnings };
  }

  private async check(): Promise<void> {
    const bytes = await this.fetch();
    if (this.last === undefined || Buffer.compare(this.last, bytes) !== 0) await this.decode(bytes);
    // Readable again after a fault of the network: a broken body stays reported as it was.
    else this.resolveFetchFault();
  }

  private async fetch(): Promise<Uint8Array> {
    const late = new ManifestFetchError(this.name, `no response within ${TIMEOUT_MS / 1000} s`);
    using scope = new Scope(this.lifetime.signal).limit(this.options.clock, TIMEOUT_MS, () => late);
    return await fetchManifest(this.options.url, this.options.header, scope.signal);
  }

  private async decode(bytes: Uint8Array): Promise<void> {
    const { decode, log, changes, url } = this.options;
    const kept = bytes.slice();
    const decoded = await decodeInPool({ kind: "http", url }, bytes, { ...decode, signal: this.lifetime.signal });
    this.last = decoded.retry ? undefined : kept;
    this.unread = undefined;
    const now = this.options.clock.now();
    if (decoded.error !== undefined) {
      this.refused = refusalOf(decoded.error, decoded.claims, this.refused?.since ?? now);
      this.reportOnce(decoded.error);
      this.options.onManifests();
      return;
    }
    if (this.complaint !== undefined) log.info({ url: this.name }, `manifest ${this.name} is readable again`);
    this.complaint = undefined;
    for (const warning of decoded.warnings) log.warn({ url: this.name, ...warning }, warningText(this.name, warning));
    this.refused = undefined;
    this.pods = decoded.pods;
    this.warnings = warningProblems(decoded.warnings, now);
    changes.deliver("http", decoded.pods, true);
    this.options.onManifests();
  }

  /** Whatever comes next is decoded again. */
  private forget(): void {
    this.last = undefined;
    this.refused = undefined;
    this.pods = [];
    this.warnings = [];
    this.options.changes.deliver("http", [], true);
  }

  private resolveFetchFault(): void {
    if (this.unread !== undefined) {
      this.unread = undefined;
      this.options.onManifests();
    }
    if (this.complaint?.startsWith("ManifestError") !== false) return;
    if (this.refused === undefined)
      this.options.log.info({ url: this.name }, `manifest ${this.name} is readable again`);
    this.complaint = undefined;
  }

  private reportOnce(error: unknown): void {
    const message = messageOf(error);
    const complaint = `${error instanceof Error ? error.name : ""}: ${message}`;
    if (complaint === this.complaint) return;
    this.complaint = complaint;
    const detail = error instanceof ManifestError ? { violations: error.violations } : { err: error };
    const effect = isEmpty(error) ? "it counts as no pods" : "keeping the pods of its last good version";
    this.options.log.error({ url: this.name, ...detail }, `${message}; ${effect}`);
  }
}

function isEmpty(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof EmptyManifestError;
}
