// The bearer token of a request: in Authorization, or, for browsers' WebSockets, among the subprotocols.

import type { IncomingHttpHeaders } from "node:http";

const SUBPROTOCOL = "base64url.bearer.authorization.k8s.io.";

export function bearerToken(headers: IncomingHttpHeaders): string | undefined {
  const [scheme = "", token = ""] = (headers.authorization ?? "").trim().split(" ");
  if (scheme.toLowerCase() === "bearer" && token !== "") return token;
  const offered = protocolsOf(headers).find((name) => name.startsWith(SUBPROTOCOL));
  if (offered === undefined) return undefined;
  const decoded = Buffer.from(offered.slice(SUBPROTOCOL.length), "base64url").toString("utf8");
  return decoded === "" ? undefined : decoded;
}

/** The subprotocols a WebSocket client offers, without the one that is a token. */
export function withoutToken(protocols: string): string {
  return split(protocols)
    .filter((name) => !name.startsWith(SUBPROTOCOL))
    .join(", ");
}

/** The subprotocols a WebSocket client offers. */
export function protocolsOf(headers: IncomingHttpHeaders): string[] {
  return split(headers["sec-websocket-protocol"] ?? "");
}

function split(protocols: string): string[] {
  return protocols
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
