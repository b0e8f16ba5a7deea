// Authentication of a request: client certificate, then bearer token, then anonymous. Wrong credentials are 401, not
// anonymous.

import type { TLSSocket } from "node:tls";
import { unauthorized } from "../../../src/workers/apiserver/objects/errors.js";
import { fieldsAt, textAt } from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed } from "../resources.js";
import type { User, World } from "../world.js";
import { API_AUDIENCE } from "./service-account-tokens.js";

const AUTHENTICATED = "system:authenticated";
const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };

export function authenticate(world: World, socket: TLSSocket, authorization: string | undefined): User {
  const certificate = socket.getPeerCertificate();
  // Without a certificate there is an empty object.
  if (Object.keys(certificate).length > 0) {
    // Looked at with each request: a connection may outlive the certificate that it was made with.
    if (!socket.authorized || Date.parse(certificate.valid_to) <= world.clock.now()) throw unauthorized();
    const { CN: name, O: groups } = certificate.subject as { CN?: string; O?: string | string[] };
    if (name !== undefined) {
      const print = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
      const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${print}`] };
      return { name, groups: [...[groups ?? []].flat(), AUTHENTICATED], extra };
    }
  }
  if (authorization === undefined) return ANONYMOUS;
  const token = /^Bearer (.+)$/i.exec(authorization)?.[1]?.trim();
  const user = token === undefined ? undefined : userOfToken(world, token, [API_AUDIENCE])?.user;
  if (user === undefined) throw unauthorized();
  return user;
}

/** The user of a token, if the token is for one of the audiences. */
export function userOfToken(
  world: World,
  token: string,
  audiences: readonly string[],
): { user: User; audiences: string[] } | undefined {
  const fixed = world.settings.tokens.get(token);
  if (fixed !== undefined) {
    const groups = [...new Set([...fixed.groups, AUTHENTICATED])];
    return { user: { ...fixed, groups }, audiences: [API_AUDIENCE].filter((one) => audiences.includes(one)) };
  }
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)) return bootstrapUser(world, token);
  const verdict = token.split(".").length === 3 ? world.tokens.verify(token) : undefined;
  if (verdict === undefined) return undefined;
  const shared = verdict.audiences.filter((one) => audiences.includes(one));
  return shared.length === 0 ? undefined : { user: verdict.user, audiences: shared };
}

/** Bootstrap tokens are secrets of kube-system. */
function bootstrapUser(world: World, token: string): { user: User; audiences: string[] } | undefined {
  const [id = "", wanted = ""] = token.split(".");
  const secret = world.store.get(resourceNamed("secrets"), `kube-system/bootstrap-token-${id}`);
  if (secret?.["type"] !== "bootstrap.kubernetes.io/token") return undefined;
  const read = (key: string): string => Buffer.from(textAt(fieldsAt(secret, "data"), key) ?? "", "base64").toString();
  if (read("token-secret") !== wanted || read("usage-bootstrap-authentication") !== "true") return undefined;
  const expiration = read("expiration");
  if (expiration !== "" && Date.parse(expiration) <= world.clock.now()) return undefined;
  const more = read("auth-extra-groups")
    .split(",")
    .filter((group) => group !== "");
  const groups = ["system:bootstrappers", ...more, AUTHENTICATED];
  return { user: { name: `system:bootstrap:${id}`, groups }, audiences: [API_AUDIENCE] };
}
