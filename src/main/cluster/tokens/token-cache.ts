// Service account tokens of pods, by TokenRequest. Invariant: concurrent callers share one request; a token is replaced
// well before it expires; while the replacement fails, the old token is used until it expires. The kept tokens are
// bounded by their bytes: a pod may ask for thousands, and the server's response is not trusted.

import { unlessAborted } from "../../../shared/base/abort/unless-aborted.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { SERVICE_ACCOUNTS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient, ApiObject } from "../../../shared/kubernetes/api/client/port.js";
import type { TokenRequestSpec } from "../../../shared/kubernetes/api/gen/authentication.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { type IssuedToken, type TokenRequest } from "../../model/cluster-access.js";
import { serviceAccountOf } from "../../model/service-account.js";

export interface TokenCacheDeps {
  client: Pick<ApiClient, "createSub">;
  clock: Pick<Clock, "now">;
  log: Logger;
  /** 0 to 1. */
  random?: () => number;
}

/** The response of authentication.k8s.io/v1. */
interface TokenAnswer extends ApiObject {
  spec?: { expirationSeconds?: unknown };
  status?: { token?: unknown; expirationTimestamp?: unknown };
}

interface Kept {
  uid: PodUid;
  token: IssuedToken;
  /** Milliseconds since the epoch. */
  refreshAt: number;
}

/** A token is replaced when less than this part of its validity is left, or after a day; upstream's values. */
const LEFT = 0.2;
const LONGEST_USE_MS = 24 * 3600_000;
const JITTER_MS = 10_000;
const PURGE_MS = 60_000;
/** Characters of one token, of which an API server's has one or two Ki. @internal */
export const LONGEST_TOKEN = 256 * 1024;
/** Characters of all tokens that are kept; the oldest one is asked for again when it is needed. @internal */
export const MOST_KEPT_TOKENS = 32 * 1024 * 1024;

export class TokenCache {
  /** The oldest token first. */
  private readonly kept = new Map<string, Kept>();
  private keptLength = 0;
  private readonly asked = new Map<string, Promise<IssuedToken>>();
  private purgedAt = 0;

  constructor(private readonly deps: TokenCacheDeps) {}

  /** Rejects with OperatorError, or the signal's reason. */
  async get(request: TokenRequest, signal: AbortSignal): Promise<IssuedToken> {
    this.purge();
    const key = keyOf(request);
    const known = this.kept.get(key);
    const now = this.deps.clock.now();
    if (known !== undefined && now < known.refreshAt) return known.token;
    try {
      return await unlessAborted(this.ask(key, request), signal);
    } catch (error) {
      signal.throwIfAborted();
      const problem = messageOf(error);
      if (known === undefined) throw new OperatorError(`failed to fetch token: ${problem}`, { cause: error });
      const whose = nameOf(request);
      if (known.token.expiresAt <= now) {
        throw new OperatorError(`token ${whose} expired and refresh failed: ${problem}`, { cause: error });
      }
      this.deps.log.warn(
        { err: error, uid: request.pod.metadata.uid },
        `cannot renew the token of service account ${whose}; using the old one: ${problem}`,
      );
      return known.token;
    }
  }

  podRemoved(uid: PodUid): void {
    for (const [key, kept] of this.kept) if (kept.uid === uid) this.drop(key);
  }

  private ask(key: string, request: TokenRequest): Promise<IssuedToken> {
    const under = this.asked.get(key);
    if (under !== undefined) return under;
    const answer = this.request(request).then((issued) => {
      const { uid } = request.pod.metadata;
      this.keep(key, { uid, token: issued.token, refreshAt: this.refreshAt(issued) });
      return issued.token;
    });
    this.asked.set(key, answer);
    const over = (): void => void this.asked.delete(key);
    answer.then(over, over);
    return answer;
  }

  private keep(key: string, kept: Kept): void {
    this.drop(key);
    this.kept.set(key, kept);
    this.keptLength += kept.token.token.length;
    for (const oldest of this.kept.keys()) {
      if (this.keptLength <= MOST_KEPT_TOKENS) return;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const kept = this.kept.get(key);
    if (kept === undefined) return;
    this.kept.delete(key);
    this.keptLength -= kept.token.token.length;
  }

  private async request(request: TokenRequest): Promise<Issued> {
    const { pod, audience, expirationSeconds, serviceAccountUid } = request;
    const { name, namespace, uid } = pod.metadata;
    const answer = await this.deps.client.createSub<TokenAnswer>(
      SERVICE_ACCOUNTS,
      { namespace, name: serviceAccountOf(pod) },
      "token",
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        metadata: serviceAccountUid === undefined ? {} : { uid: serviceAccountUid },
        spec: omitUndefined<TokenRequestSpec>({
          audiences: audience === undefined ? [] : [audience],
          expirationSeconds,
          boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
        }),
      },
    );
    const { token, expirationTimestamp } = answer.status ?? {};
    const expiresAt = typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : NaN;
    if (typeof token !== "string" || token === "" || Number.isNaN(expiresAt)) {
      throw new OperatorError("the API server's response has no token with an expiration time");
    }
    if (token.length > LONGEST_TOKEN) {
      throw new OperatorError(
        `the API server's token has ${token.length} characters; at most ${LONGEST_TOKEN} are taken`,
      );
    }
    const granted = answer.spec?.expirationSeconds;
    const lifeSeconds = typeof granted === "number" && granted > 0 ? granted : expirationSeconds;
    return { token: { token, expiresAt }, lifeMs: lifeSeconds === undefined ? undefined : lifeSeconds * 1000 };
  }

  private refreshAt({ token: { expiresAt }, lifeMs }: Issued): number {
    const { clock, random = Math.random } = this.deps;
    const life = lifeMs ?? expiresAt - clock.now();
    const issuedAt = expiresAt - life;
    return Math.min(expiresAt - LEFT * life, issuedAt + LONGEST_USE_MS) - random() * JITTER_MS;
  }

  /** Removes expired tokens: their pods have newer ones or were removed without a notification. */
  private purge(): void {
    const now = this.deps.clock.now();
    if (now - this.purgedAt < PURGE_MS) return;
    this.purgedAt = now;
    for (const [key, { token }] of this.kept) if (token.expiresAt <= now) this.drop(key);
  }
}

interface Issued {
  token: IssuedToken;
  /** As the server has granted it. */
  lifeMs: number | undefined;
}

function nameOf({ pod }: TokenRequest): string {
  return `${pod.metadata.namespace}/${serviceAccountOf(pod)}`;
}

function keyOf(request: TokenRequest): string {
  const { pod, audience = "", expirationSeconds = 0, serviceAccountUid = "" } = request;
  return JSON.stringify([nameOf(request), audience, expirationSeconds, pod.metadata.uid, serviceAccountUid]);
}
