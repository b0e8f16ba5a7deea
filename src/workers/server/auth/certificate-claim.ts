// The user of a client certificate: the common name is the user name, the organisations are the groups. OpenSSL
// verified the chain at the handshake (CA, dates, client-auth usage); dates are checked again with each request,
// because connections last long.

import type { PeerCertificate, DetailedPeerCertificate } from "tls";
import type { User } from "./user.js";

/** The part of a TLS connection with the client's certificate. */
export interface TlsPeer {
  readonly authorized: boolean;
  readonly authorizationError: Error | string | undefined;
  getPeerCertificate(detailed?: boolean): PeerCertificate | DetailedPeerCertificate;
}

export type CertificateClaim =
  | { kind: "none" }
  | { kind: "refused"; why: string }
  | { kind: "user"; user: User; expiresAt: number };

const NONE: CertificateClaim = { kind: "none" };

/** @param now milliseconds since the epoch */
export function certificateClaim(peer: TlsPeer, now: number): CertificateClaim {
  const certificate = peer.getPeerCertificate();
  // Without a certificate Node returns an empty object.
  if (Object.keys(certificate).length === 0) return NONE;
  if (!peer.authorized) {
    const { authorizationError: error } = peer;
    const why = error instanceof Error ? error.message : (error ?? "not verified");
    return { kind: "refused", why: `client certificate: ${why}` };
  }
  const expiresAt = Date.parse(certificate.valid_to);
  if (!(now < expiresAt)) return { kind: "refused", why: "client certificate: it has expired" };
  if (now < Date.parse(certificate.valid_from)) return { kind: "refused", why: "client certificate: not valid yet" };
  const subject = certificate.subject as unknown as Record<string, string | string[] | undefined>;
  // Go takes the last of several.
  const name = list(subject["CN"]).at(-1) ?? "";
  if (name === "") return NONE;
  const fingerprint = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] };
  return { kind: "user", user: { name, groups: list(subject["O"]), extra }, expiresAt };
}

function list(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}
