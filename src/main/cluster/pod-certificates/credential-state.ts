// The state of one podCertificate source, and its next action at a given time. Pure: source-credential.ts makes the
// calls, waits and reports. Invariant: an issued certificate stays in use until a newer one is issued or the signer
// denies the request.

import type { PodCertificateRequest } from "../../../shared/kubernetes/api/objects.js";
import type { PodCredential } from "../../model/cluster-access.js";
import { cleanChain } from "../collections/certificates.js";
import type { PodCertificateState } from "./metrics.js";

/** Times are milliseconds since the epoch. */
export interface PendingRequest {
  /** "namespace/name". */
  request: string;
  /** PEM. */
  key: string;
  /** A request without a response must be deleted by this time. */
  abandonAt: number;
}

interface HeldCredential extends PodCredential {
  /** The signer's beginRefreshAt, a little later: pods that started together part over time. */
  refreshAt: number;
  notAfter: number;
}

export type CredentialState =
  | { phase: "none"; pending?: PendingRequest }
  | { phase: "held"; held: HeldCredential; pending?: PendingRequest }
  /** Final. The earlier certificate stays in use: running pods may start a container again. */
  | { phase: "refused"; how: "Denied" | "Failed"; reason: string; message: string; held?: HeldCredential };

/** The problems of a late certificate that the pod's events have reported. */
export interface ReportedState {
  overdue: boolean;
  expired: boolean;
}

/** After its time of refresh by so much a certificate is overdue; constants of upstream, as below. */
const OVERDUE_MS = 10 * 60_000;
const ABANDON_MS = 10 * 60_000;
const JITTER_MS = 5 * 60_000;

/** @param createdAt by the API server's clock; @param random 0 to 1 */
export function pendingRequest(request: string, key: string, createdAt: number, random: number): PendingRequest {
  return { request, key, abandonAt: createdAt + ABANDON_MS + random * JITTER_MS };
}

/** Returns the state with `pending` as its open request, or without one; a refusal stays a refusal. */
export function withPending(state: CredentialState, pending?: PendingRequest): CredentialState {
  if (state.phase === "refused") return state;
  const rest: CredentialState = state.phase === "held" ? { phase: "held", held: state.held } : { phase: "none" };
  return pending === undefined ? rest : { ...rest, pending };
}

/** A request has to be made. */
export function mustAsk(state: CredentialState, now: number): boolean {
  if (state.phase === "refused") return false;
  if (state.pending !== undefined) return now > state.pending.abandonAt;
  return state.phase === "none" || now >= state.held.refreshAt;
}

/** Deadlines that have passed. */
export function lateness(state: CredentialState, now: number): ReportedState {
  if (state.phase !== "held") return { overdue: false, expired: false };
  return { overdue: now > state.held.refreshAt + OVERDUE_MS, expired: now > state.held.notAfter };
}

/** As the metric has it. */
export function stateName(state: CredentialState, now: number): PodCertificateState {
  if (state.phase === "refused") return state.how === "Denied" ? "denied" : "failed";
  if (state.phase === "none") return "not_yet_issued";
  const { overdue, expired } = lateness(state, now);
  return expired ? "expired" : overdue ? "overdue_for_refresh" : "fresh";
}

/** The state after the signer's response to the pending request; undefined before that. */
export function verdictOf(
  { key }: PendingRequest,
  { status = {} }: PodCertificateRequest,
  random: number,
): CredentialState | undefined {
  for (const { type, reason = "", message = "" } of status.conditions ?? []) {
    if (type === "Denied" || type === "Failed") return { phase: "refused", how: type, reason, message };
    if (type !== "Issued") continue;
    const chain = cleanChain(status.certificateChain ?? "");
    const refreshAt = Date.parse(status.beginRefreshAt ?? "") + random * JITTER_MS;
    const notAfter = Date.parse(status.notAfter ?? "");
    // The API server lets no such thing pass.
    if (chain === "" || Number.isNaN(refreshAt + notAfter)) {
      const missing = "it was issued without a certificate, or without its times";
      return { phase: "refused", how: "Failed", reason: "Incomplete", message: missing };
    }
    return { phase: "held", held: { key, chain, refreshAt, notAfter } };
  }
  return undefined;
}
