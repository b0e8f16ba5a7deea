// Rotates one certificate of the node. It requests the first certificate. It requests the next at 70 to 90 % of the
// validity, or when the names must change.
// Invariant: a valid certificate stays in use until a better one exists; after a refusal, or a certificate that is
// already due, the next request waits; a jump of the clock is noticed within a minute.

import { Lifetime } from "../../../shared/base/abort/lifetime.js";
import { Scope } from "../../../shared/base/abort/scope.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import type { CertificateSubject, DescribedCertificate } from "../../../shared/contracts/tasks.js";
import { ApiConnectionError, ApiError } from "../../../shared/kubernetes/api/client/errors.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { CertificateStore } from "./certificate-store.js";
import type { CertificateTasks } from "./certificate-tasks.js";

export interface CertificateManagerDeps {
  /** For the log: "client", "serving". */
  what: string;
  store: Pick<CertificateStore, "read" | "keep">;
  tasks: CertificateTasks;
  /** The subject of the certificate; undefined while it is not known yet. */
  subject: () => CertificateSubject | undefined;
  /** Has the request signed. @returns PEM */
  sign(request: string, signal: AbortSignal): Promise<string>;
  /** A new certificate is in the store. `age`: seconds that the one before lived. */
  onRotated(certificate: DescribedCertificate, age: number | undefined): void;
  onFailed?(): void;
  clock: Clock;
  log: Logger;
  /** 0 to 1. */
  random?: () => number;
}

const RETRY = { initialMs: 2000, maxMs: 32_000, spread: [1, 1.1] } as const;
/** Minimum time between two renewals: a signer may issue certificates that are due at once, or omit names. */
const LEAST_LIFE_MS = 5000;
/** Status codes by which a healthy server refuses the request itself. */
const REFUSALS = new Set([401, 403, 404]);
/** The time of renewal is wall time, which may jump while a timer waits. */
const LOOK_MS = 60_000;

export class CertificateManager {
  private readonly lifetime = new Lifetime();
  private running: Promise<void> | undefined;
  private wake: Scope | undefined;
  private held: DescribedCertificate | undefined;
  /** Milliseconds since the epoch. */
  private rotateAt = 0;
  /** Milliseconds of the monotonic clock. */
  private renewedAt = -Infinity;

  private answers = false;

  constructor(private readonly deps: CertificateManagerDeps) {}

  /** The certificate in use. */
  get certificate(): DescribedCertificate | undefined {
    return this.held;
  }

  /** The last request was granted, or a healthy server refused it, for example because it no longer knows the node. */
  get serverAnswers(): boolean {
    return this.answers;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** The names may have changed: checks them at once. */
  checkNow(): void {
    this.wake?.abort(new Error("checking the certificate again"));
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.running;
  }

  private async run(): Promise<void> {
    const { log, what, store, clock } = this.deps;
    const { signal } = this.lifetime;
    try {
      this.useCertificate(await store.read());
      const backoff = new Backoff({ ...RETRY, random: () => this.random() });
      let failed = false;
      while (!signal.aborted) {
        if (failed) await clock.sleep(backoff.next(), signal);
        else await this.untilDue();
        failed = !(await this.rotate());
        if (!failed) backoff.reset();
      }
    } catch (error) {
      if (!signal.aborted)
        log.error({ err: error }, `the ${what} certificate is no longer renewed: ${errorText(error)}`);
    }
  }

  private useCertificate(certificate: DescribedCertificate | undefined): void {
    this.held = certificate;
    this.rotateAt = certificate === undefined ? 0 : rotationTime(certificate, this.random());
  }

  private async untilDue(): Promise<void> {
    const { clock } = this.deps;
    for (;;) {
      const wanted = this.deps.subject();
      const fits = wanted === undefined || (this.held !== undefined && serves(this.held, wanted));
      const due = fits ? this.rotateAt - clock.now() : 0;
      const wait = Math.max(due, this.renewedAt + LEAST_LIFE_MS - clock.monotonic());
      if (wanted !== undefined && wait <= 0) return;
      await this.rest(wanted === undefined ? LOOK_MS : Math.min(wait, LOOK_MS));
    }
  }

  /** Resolves after `ms`, or earlier when `checkNow` is called. */
  private async rest(ms: number): Promise<void> {
    const { signal } = this.lifetime;
    using wake = new Scope(signal);
    this.wake = wake;
    try {
      await this.deps.clock.sleep(ms, wake.signal);
    } catch (error) {
      if (!wake.signal.aborted || signal.aborted) throw error;
    } finally {
      this.wake = undefined;
    }
  }

  private async rotate(): Promise<boolean> {
    const { store, tasks, clock, log, what } = this.deps;
    const { signal } = this.lifetime;
    const subject = this.deps.subject();
    if (subject === undefined) return true;
    try {
      const { key, request } = await tasks.request({ subject });
      const certificate = await this.deps.sign(request, signal);
      const described = await tasks.describe(certificate);
      if (described === undefined) throw new Error("the API server returned data that is not a certificate");
      await store.keep(certificate, key);
      const age = this.held === undefined ? undefined : (clock.now() - this.held.notBefore) / 1000;
      this.useCertificate({ ...described, hasKey: true });
      this.renewedAt = clock.monotonic();
      this.answers = true;
      log.info(
        { notAfter: new Date(described.notAfter).toISOString() },
        `using a new ${what} certificate, valid until ${new Date(described.notAfter).toISOString()}`,
      );
      this.deps.onRotated(described, age);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      // Other failures come later or do not come from the server: they carry no information about it.
      if (error instanceof ApiError) this.answers = REFUSALS.has(error.status);
      else if (error instanceof ApiConnectionError) this.answers = false;
      this.deps.onFailed?.();
      log.error({ err: error }, `cannot get a new ${what} certificate: ${errorText(error)}; trying again`);
      return false;
    }
  }

  private random(): number {
    return this.deps.random === undefined ? Math.random() : this.deps.random();
  }
}

/** 70 to 90 % of the certificate's validity, milliseconds since the epoch. @internal */
export function rotationTime({ notBefore, notAfter }: DescribedCertificate, random: number): number {
  return notBefore + (notAfter - notBefore) * (0.7 + 0.2 * random);
}

/** The certificate carries every name that is wanted. @internal */
export function serves(held: DescribedCertificate, subject: CertificateSubject): boolean {
  const has = (have: readonly string[], want: readonly string[] = []): boolean =>
    want.every((name) => have.includes(name));
  return (
    held.commonName === subject.commonName &&
    has(held.organizations, subject.organizations) &&
    has(held.dnsNames, subject.dnsNames) &&
    has(held.ips.map(canonicalIP), subject.ips?.map(canonicalIP))
  );
}

/** OpenSSL prints IPv6 addresses in capitals and without shortening. */
function canonicalIP(ip: string): string {
  return ip.includes(":") ? new URL(`http://[${ip}]`).hostname : ip;
}
