// Describes failures of the connection to the API server: the cause, and the remedy for the operator.

import { errorCode } from "../../../../base/errors/error-code.js";
import { ApiConnectionError } from "../errors.js";

const OTHER_CA = "another CA than certificate-authority signed its certificate: is it the right cluster?";
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "nothing listens there: is the API server running?"],
  ["ECONNRESET", "the server, or a proxy before it, closed the connection: look at its log"],
  ["EPIPE", "the server, or a proxy before it, closed the connection: look at its log"],
  ["EHOSTUNREACH", "there is no way to that host: look at routes and firewalls"],
  ["ENETUNREACH", "there is no way to that network: look at routes and firewalls"],
  ["ETIMEDOUT", "the host does not respond: look at routes and firewalls"],
  ["ENOTFOUND", "the host's name is not known: look at DNS, or use an address in the kubeconfig"],
  ["EAI_AGAIN", "the name server does not respond: look at DNS, or use an address in the kubeconfig"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for other names: use one of them, or set tls-server-name"],
  ["CERT_HAS_EXPIRED", "its certificate has expired: renew it, or set this node's clock"],
  ["CERT_NOT_YET_VALID", "its certificate is not valid yet: set this node's clock"],
  ["SELF_SIGNED_CERT_IN_CHAIN", OTHER_CA],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", OTHER_CA],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", OTHER_CA],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", OTHER_CA],
  ["CERT_SIGNATURE_FAILURE", OTHER_CA],
  ["EPROTO", "the TLS handshake failed: is it https there, and is the client's certificate accepted?"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "the server does not use TLS: is it http there?"],
]);
const CLIENT_REFUSED = "the server refuses this node's certificate: has it expired, or is it of another cluster?";

/** As an ApiConnectionError about `server`, the URL of the kubeconfig `origin`. */
export function connectionError(doing: string, server: string, origin: string, cause: unknown): ApiConnectionError {
  if (cause instanceof ApiConnectionError) return cause;
  const why = cause instanceof Error ? cause.message.trim() : String(cause);
  const code = errorCode(cause) ?? "";
  const advice = /ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_|NO_CERT)|ALERT_CERT/.test(code)
    ? CLIENT_REFUSED
    : ADVICE.get(code);
  const hint = advice === undefined ? "" : `; ${advice}`;
  return new ApiConnectionError(`${doing}: the API server ${server} (${origin}): ${why}${hint}`, { cause });
}

/** The API server sent a TLS alert about our client certificate. */
export function isCertificateAlert(error: unknown): boolean {
  return /^ERR_SSL_.*ALERT.*CERT|^ERR_SSL_.*ALERT_UNKNOWN_CA/.test(errorCode(error) ?? "");
}
