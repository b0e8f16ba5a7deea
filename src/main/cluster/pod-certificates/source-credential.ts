// The credential of one podCertificate source: requested when its pod comes, replaced in good time, and used by the
// volume.
// Invariant: one pending request at a time; a failure is retried with back-off while the pod exists; a denial is final.
// The refresh time is wall time and is checked every minute or two, as the clock may jump.

import { Scope } from "../../../shared/base/abort/scope.js";
import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { quote } from "../../../shared/base/text/quote.js";
import { backoffMs } from "../../../shared/base/turns/backoff.js";
import type { PodKey } from "../../../shared/contracts/tasks.js";
import type { EventReason } from "../../../shared/kubernetes/api/event-reasons.js";
import type { PodCertificateRequest } from "../../../shared/kubernetes/api/objects.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { PodCertificateProjection } from "../../../shared/kubernetes/api/volume.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { PodCredential } from "../../model/cluster-access.js";
import type { EventRecorder } from "../../model/event-recorder.js";
import {
  lateness,
  mustAsk,
  pendingRequest,
  stateName,
  verdictOf,
  withPending,
  type CredentialState,
} from "./credential-state.js";
import { PodCertificateError } from "./errors.js";
import type { PodCertificateState } from "./metrics.js";
import { createRequest, requesterOf, type RequestCertificateDeps } from "./request-certificate.js";

export interface SourceCredentialDeps extends RequestCertificateDeps {
  makeKey(keyType: string): Promise<PodKey>;
  /** The request was created: from now on, `onRequest` receives its changes. */
  onAsked(): void;
  /** There is another credential, or none any more. */
  onChange(): void;
  events: Pick<EventRecorder, "pod">;
  clock: Pick<Clock, "now" | "sleep">;
  log: Logger;
  /** 0 to 1. */
  random: () => number;
}

const LOOK_MS = 60_000;
const RETRY = { initialMs: 100, maxMs: 60_000, spread: [1, 2] } as const;
/** Many signers respond within a moment: the mount waits for it rather than fail. */
const PATIENCE_MS = 2000;

export class SourceCredential {
  private state: CredentialState = { phase: "none" };
  private reported = { overdue: false, expired: false };
  /** Key of a request that could not be created: the next request uses it, too. */
  private key: PodKey | undefined;
  /** Requests that went amiss since a credential last came. */
  private failures = 0;
  /** The reason why no certificate was requested. */
  private problem: string | undefined;
  private asking = false;
  /** No mount has timed out yet while it waited for the certificate. */
  private patient = true;
  private readonly early = new Map<string, PodCertificateRequest>();
  private wake: Scope | undefined;
  private readonly waiting = new Set<() => void>();
  private readonly end = new AbortController();

  constructor(
    private pod: Pod,
    readonly source: PodCertificateProjection,
    /** "volume/index", for the log. */
    private readonly what: string,
    private readonly deps: SourceCredentialDeps,
  ) {}

  start(): void {
    void this.run().catch((error: unknown) => {
      if (this.end.signal.aborted) return;
      this.deps.log.error({ err: error, ...this.about }, `stopped managing the pod's certificate: ${errorText(error)}`);
    });
  }

  /** The pod's present definition, for its events. */
  update(pod: Pod): void {
    this.pod = pod;
  }

  stop(): void {
    this.end.abort(new Error("the pod was removed"));
    this.answerWaiting();
  }

  stateName(): PodCertificateState {
    return stateName(this.state, this.deps.clock.now());
  }

  /** Waits a moment for the signer's first response. Rejects with PodCertificateError, or with the signal's reason. */
  async get(signal: AbortSignal): Promise<PodCredential> {
    if (this.state.phase === "none" && this.patient) this.patient = await this.firstWord(signal);
    const { state, problem } = this;
    if (state.phase !== "none" && state.held !== undefined) return { key: state.held.key, chain: state.held.chain };
    if (state.phase === "refused") {
      const { how, reason, message } = state;
      throw new PodCertificateError(
        `PodCertificateRequest was permanently ${how.toLowerCase()}: reason=${quote(reason)} message=${quote(message)}`,
      );
    }
    throw new PodCertificateError(`credential bundle is not issued yet${problem === undefined ? "" : `: ${problem}`}`);
  }

  /** Handles an event of a PodCertificateRequest of this pod. */
  onRequest(name: string, request: PodCertificateRequest, deleted: boolean): void {
    const { pending } = this.state.phase === "refused" ? {} : this.state;
    // The watch may deliver the request before the response to its creation arrives.
    if (this.asking) this.early.set(name, request);
    if (pending?.request !== name) return;
    const verdict = verdictOf(pending, request, this.deps.random());
    if (verdict !== undefined) this.applyOutcome(name, verdict);
    else if (deleted) {
      this.failures++;
      this.deps.log.warn(
        this.about,
        `PodCertificateRequest ${name} was deleted before it was signed; creating another`,
      );
      this.state = withPending(this.state);
      this.wake?.abort(new Error("checking the pod certificate again"));
    }
  }

  private applyOutcome(name: string, state: CredentialState): void {
    const { events } = this.deps;
    const held = this.state.phase === "held" ? { held: this.state.held } : {};
    this.state = state.phase === "refused" ? { ...state, ...held } : state;
    this.failures = 0;
    this.reported = { overdue: false, expired: false };
    if (state.phase === "refused") {
      const { how, reason, message } = state;
      const text = `PodCertificateRequest ${name} ${how === "Denied" ? "was denied" : "failed"}`;
      events.pod(this.pod, {
        type: "Warning",
        reason: how,
        message: `${reason}: ${text}, reason=${quote(reason)}, message=${quote(message)}`,
      });
    }
    this.answerWaiting();
    this.deps.onChange();
  }

  private async run(): Promise<void> {
    const { clock, random } = this.deps;
    const { signal } = this.end;
    while (!signal.aborted && this.state.phase !== "refused") {
      this.emitLateness();
      if (!mustAsk(this.state, clock.now())) {
        await this.rest(LOOK_MS * (1 + random()));
        continue;
      }
      // A deleted request is created again with the same back-off as one that could not be created.
      if (this.failures > 0) await this.rest(this.backOff());
      if (mustAsk(this.state, clock.now())) await this.ask(signal);
    }
  }

  private async ask(signal: AbortSignal): Promise<void> {
    const { deps, pod, source } = this;
    this.state = withPending(this.state);
    this.asking = true;
    try {
      const requester = await requesterOf(deps, pod, signal);
      this.key ??= await deps.makeKey(source.keyType);
      signal.throwIfAborted();
      const { key } = this.key;
      const { metadata } = await createRequest(deps, { pod, source, requester, key: this.key }, signal);
      const name = `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
      const createdAt = Date.parse(metadata.creationTimestamp ?? "");
      const pending = pendingRequest(name, key, Number.isNaN(createdAt) ? deps.clock.now() : createdAt, deps.random());
      this.key = undefined;
      this.problem = undefined;
      this.state = withPending(this.state, pending);
      this.asking = false;
      deps.onAsked();
      const early = this.early.get(name);
      if (early !== undefined) this.onRequest(name, early, false);
    } catch (error) {
      signal.throwIfAborted();
      this.failures++;
      this.problem = errorText(error);
      deps.log.warn({ err: error, ...this.about }, `cannot request a certificate: ${this.problem}; trying again`);
    } finally {
      this.asking = false;
      this.early.clear();
    }
  }

  private emitLateness(): void {
    const { overdue, expired } = lateness(this.state, this.deps.clock.now());
    const emit = (reason: EventReason, message: string): void =>
      this.deps.events.pod(this.pod, { type: "Warning", reason, message });
    if (overdue && !this.reported.overdue) emit("CertificateOverdueForRefresh", "PodCertificate refresh overdue");
    if (expired && !this.reported.expired) emit("CertificateExpired", "PodCertificate expired");
    this.reported = { overdue: this.reported.overdue || overdue, expired: this.reported.expired || expired };
  }

  private backOff(): number {
    return backoffMs({ ...RETRY, random: this.deps.random }, this.failures);
  }

  /** Until the time is up, or something has come. */
  private async rest(ms: number): Promise<void> {
    const { signal } = this.end;
    using wake = new Scope(signal);
    this.wake = wake;
    try {
      await this.deps.clock.sleep(ms, wake.signal);
    } catch {
      signal.throwIfAborted();
    } finally {
      this.wake = undefined;
    }
  }

  /** Resolves to whether it came. */
  private async firstWord(signal: AbortSignal): Promise<boolean> {
    const enough = new AbortController();
    let done = (): void => undefined;
    const word = new Promise<void>((resolve) => {
      done = resolve;
      this.waiting.add(done);
    });
    const patience = this.deps.clock.sleep(PATIENCE_MS, enough.signal).catch(() => undefined);
    try {
      await unlessAborted(Promise.race([word, patience]), signal);
      return this.state.phase !== "none";
    } finally {
      this.waiting.delete(done);
      enough.abort();
    }
  }

  private answerWaiting(): void {
    for (const done of [...this.waiting]) done();
  }

  private get about(): { uid: PodUid; source: string; signerName: string } {
    return { uid: this.pod.metadata.uid, source: this.what, signerName: this.source.signerName };
  }
}
