// Finds the user of a request: by client certificate, then by bearer token, then anonymous.
// Invariant: a request with an invalid credential is refused, even where anonymous requests are served.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { CertificateClaim } from "./certificate-claim.js";
import { TooManyReviewsError } from "./review-turns.js";
import type { Tokens } from "./tokens.js";
import { ANONYMOUS, authenticated, type User } from "./user.js";

export interface Credentials {
  certificate: CertificateClaim;
  token: string | undefined;
  /** The client's network, for fair turns. */
  network: string;
}

export type Authentication = { kind: "user"; user: User } | { kind: "refused"; why: string };

export interface AuthenticatorOptions {
  /** undefined: tokens are not reviewed, and count as none. */
  tokens: Pick<Tokens, "verify"> | undefined;
  anonymous: boolean;
}

/** Rejects with TooManyReviewsError only. */
export async function authenticate(
  { certificate, token, network }: Credentials,
  { tokens, anonymous }: AuthenticatorOptions,
): Promise<Authentication> {
  if (certificate.kind === "user") return { kind: "user", user: authenticated(certificate.user) };
  const reasons = certificate.kind === "refused" ? [certificate.why] : [];
  if (token !== undefined && tokens !== undefined) {
    try {
      const verdict = await tokens.verify(token, network);
      if (verdict.kind === "user") return { kind: "user", user: authenticated(verdict.user) };
      reasons.push(verdict.why);
    } catch (error) {
      if (error instanceof TooManyReviewsError) throw error;
      const why = messageOf(error);
      reasons.push(`bearer token: the request to the API server failed: ${why}`);
    }
  }
  if (reasons.length > 0) return { kind: "refused", why: reasons.join("; ") };
  if (anonymous) return { kind: "user", user: ANONYMOUS };
  return { kind: "refused", why: "no credentials, and anonymous requests are off" };
}
