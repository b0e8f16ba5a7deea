// Credentials from a program: kept until they expire or the server refuses them.
// Invariant: one run at a time for all callers; a plugin that fails, or returns refused credentials again, is not run
// again before a back-off, however many callers ask.

import { X509Certificate } from "node:crypto";
import type { Clock } from "../../../../../base/clock/clock.js";
import { asError } from "../../../../../base/errors/thrown.js";
import type { ClientConfig, ExecConfig } from "../../config.js";
import { CredentialError } from "../errors.js";
import { SourceText } from "../source-text.js";
import { execInfo, readExecCredential, type ExecCredential } from "./exec-credential.js";
import { type ExecFailure, runCommand, ExecError } from "./run-command.js";

const REST_MS = 5000;

/** Called at each run, with the expiry of its credentials (ms since the epoch). */
type OnRun = (
  code: number,
  status: "no_error" | ExecFailure | "client_internal_error",
  expiresAt: number | undefined,
) => void;

export interface ExecHooks {
  readonly onRun?: OnRun;
  /** The plugin gave another certificate; the age of the one before, ms. */
  readonly onRotated?: (ageMs: number) => void;
}

export class ExecPlugin {
  private readonly ca: SourceText | undefined;
  private credential: ExecCredential | undefined;
  private isRefused = false;
  private running: Promise<ExecCredential> | undefined;
  private failure: Error | undefined;
  private restsUntil = -Infinity;

  constructor(
    private readonly exec: ExecConfig,
    private readonly config: ClientConfig,
    private readonly clock: Clock,
    private readonly hooks: ExecHooks = {},
  ) {
    const { certificateAuthority } = config;
    if (certificateAuthority !== undefined && exec.provideClusterInfo) {
      this.ca = new SourceText(certificateAuthority, "certificate authority");
    }
  }

  /** The cached credential is no longer usable, and the plugin may run. */
  get isDue(): boolean {
    return this.isSpent && this.clock.monotonic() >= this.restsUntil;
  }

  /** The server did not take the credentials. */
  refused(): void {
    this.isRefused = true;
  }

  /** Rejects with CredentialError. */
  async current(): Promise<ExecCredential> {
    if (this.running !== undefined) return await this.running;
    const { credential, failure } = this;
    const rests = this.clock.monotonic() < this.restsUntil;
    if (rests && failure !== undefined && this.isExpired) throw failure;
    if (credential !== undefined && (rests || !this.isSpent)) return credential;
    this.running = this.run().finally(() => (this.running = undefined));
    return await this.running;
  }

  private get isSpent(): boolean {
    return this.isRefused || this.isExpired;
  }
  private get isExpired(): boolean {
    const { expiresAt } = this.credential ?? { expiresAt: 0 };
    return expiresAt !== undefined && this.clock.now() >= expiresAt;
  }

  private async run(): Promise<ExecCredential> {
    const { exec, clock } = this;
    try {
      if (exec.needsTerminal === true)
        throw new CredentialError(`the credential plugin ${exec.command} needs a terminal`);
      const ca = await this.ca?.read();
      const next = readExecCredential(await runCommand(exec, execInfo(exec, this.config, ca), clock), exec);
      const isSame = this.credential !== undefined && sameProof(this.credential, next);
      this.reportRotation(this.credential?.pair?.cert, next.pair?.cert);
      this.credential = next;
      this.isRefused = false;
      this.failure = undefined;
      if (isSame || this.isSpent) this.rest();
      this.hooks.onRun?.(0, "no_error", next.expiresAt);
      return next;
    } catch (error) {
      this.failure = asError(error);
      // The earlier credential may still be valid: a server refuses for other reasons, too.
      this.isRefused = false;
      this.rest();
      if (error instanceof ExecError) this.hooks.onRun?.(error.exitCode, error.status, undefined);
      else this.hooks.onRun?.(1, "client_internal_error", undefined);
      throw error;
    }
  }

  private reportRotation(before: string | undefined, after: string | undefined): void {
    if (before === undefined || before === after) return;
    const issuedAt = issueTime(before);
    if (issuedAt !== undefined) this.hooks.onRotated?.(this.clock.now() - issuedAt);
  }

  private rest(): void {
    this.restsUntil = this.clock.monotonic() + REST_MS;
  }
}

/** Milliseconds since the epoch; undefined: no certificate, which the connection reports. */
function issueTime(pem: string): number | undefined {
  try {
    return Date.parse(new X509Certificate(pem).validFrom);
  } catch {
    return undefined;
  }
}

function sameProof(one: ExecCredential, other: ExecCredential): boolean {
  return one.token === other.token && one.pair?.cert === other.pair?.cert && one.pair?.key === other.pair?.key;
}
