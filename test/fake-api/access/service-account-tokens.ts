// Service account tokens: real RS256 JWTs, bound to pods where asked, checked against what they are bound to.

import {
  createHash,
  createPublicKey,
  createSign,
  createVerify,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
} from "node:crypto";
import type { Clock } from "../../../src/shared/base/clock/clock.js";
import {
  fieldsAt,
  isFields,
  textAt,
  type ApiObject,
  type Fields,
} from "../../../src/workers/apiserver/objects/object.js";
import { resourceNamed } from "../resources.js";
import { keyOf, type Store } from "../storage/store.js";
import type { User } from "../world.js";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
/** The audience that the API server itself is. */
export const API_AUDIENCE = ISSUER;

const CLAIM = "kubernetes.io";

export interface TokenRequestSpec {
  account: ApiObject;
  audiences: readonly string[];
  /** Seconds. */
  expiration: number;
  /** The object whose deletion invalidates the token. */
  pod?: ApiObject;
  secret?: ApiObject;
  node?: { name: string; uid?: string | undefined };
}

export interface TokenVerdict {
  user: User;
  audiences: string[];
}

export class TokenIssuer {
  #signing: { key: KeyObject; id: string } | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly store: Store,
  ) {}

  /** Made when it is needed first: an RSA key takes longer than all else of a start. */
  get #pair(): { key: KeyObject; id: string } {
    if (this.#signing !== undefined) return this.#signing;
    const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const der = createPublicKey(key).export({ type: "spki", format: "der" });
    this.#signing = { key, id: createHash("sha256").update(der).digest("base64url") };
    return this.#signing;
  }

  issue({ account, audiences, expiration, pod, secret, node }: TokenRequestSpec): string {
    const now = Math.floor(this.clock.now() / 1000);
    const reference = (object: ApiObject | undefined): Fields | undefined =>
      object && { name: object.metadata.name, uid: object.metadata.uid };
    return this.#sign({
      aud: [...audiences],
      exp: now + expiration,
      iat: now,
      iss: ISSUER,
      jti: randomUUID(),
      [CLAIM]: {
        namespace: account.metadata.namespace,
        node: node && { name: node.name, uid: node.uid },
        pod: reference(pod),
        secret: reference(secret),
        serviceaccount: reference(account),
      },
      nbf: now,
      sub: `system:serviceaccount:${account.metadata.namespace ?? ""}:${account.metadata.name}`,
    });
  }

  /** The user of a token; undefined if the token is foreign, changed, expired, or bound to a deleted object. */
  verify(token: string): TokenVerdict | undefined {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return undefined;
    const bound = fieldsAt(claims, CLAIM);
    const namespace = textAt(bound, "namespace") ?? "";
    const account = fieldsAt(bound, "serviceaccount");
    if (!this.#lives("ServiceAccount", namespace, account)) return undefined;
    for (const [kind, field] of [
      ["Pod", "pod"],
      ["Secret", "secret"],
    ] as const) {
      if (isFields(bound[field]) && !this.#lives(kind, namespace, bound[field])) return undefined;
    }
    const pod = fieldsAt(bound, "pod");
    const extra: Record<string, string[]> = {};
    const add = (key: string, value: unknown): void => {
      if (typeof value === "string") extra[`authentication.kubernetes.io/${key}`] = [value];
    };
    add("credential-id", `JTI=${textAt(claims, "jti") ?? ""}`);
    add("pod-name", pod["name"]);
    add("pod-uid", pod["uid"]);
    add("node-name", fieldsAt(bound, "node")["name"]);
    add("node-uid", fieldsAt(bound, "node")["uid"]);
    const { aud } = claims;
    return {
      user: {
        name: String(claims["sub"]),
        uid: textAt(account, "uid") ?? "",
        groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
        extra,
      },
      audiences: Array.isArray(aud) ? aud.map(String) : [],
    };
  }

  #sign(claims: Fields): string {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const { key, id } = this.#pair;
    const body = `${part({ alg: "RS256", kid: id })}.${part(claims)}`;
    return `${body}.${createSign("RSA-SHA256").update(body).sign(key, "base64url")}`;
  }

  #claimsOf(token: string): Fields | undefined {
    const [head = "", body = "", signature = ""] = token.split(".");
    const isOurs = createVerify("RSA-SHA256").update(`${head}.${body}`).verify(this.#pair.key, signature, "base64url");
    if (!isOurs) return undefined;
    const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
    if (!isFields(claims)) return undefined;
    const now = this.clock.now() / 1000;
    return Number(claims["exp"]) > now && Number(claims["nbf"]) <= now + 1 ? claims : undefined;
  }

  #lives(kind: string, namespace: string, { name, uid }: Fields): boolean {
    const object = this.store.get(resourceNamed(kind), keyOf(namespace, String(name)));
    return object?.metadata.uid === uid;
  }
}
