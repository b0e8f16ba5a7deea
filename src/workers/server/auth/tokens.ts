// Bearer tokens, as the API server reviews them. Answers are kept for cacheTTL; a refusal for seconds only, as a token
// may become good; no answer is not kept at all.
// Invariant: no token is kept in memory, only a keyed digest of it; however many wrong tokens come, memory is bounded.

import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import type { ReviewLimits } from "../../../shared/contracts/server.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { ExpiringCache, SharedQuestions } from "./expiring-cache.js";
import type { ServerAuthMetrics } from "./metrics.js";
import { ReviewTurns } from "./review-turns.js";
import { REVIEW_TIMEOUT_MS, TOKEN_REVIEWS, type TokenReview } from "./reviews.js";
import type { User } from "./user.js";

const REFUSAL_TTL_MS = 10_000;
const LIMIT = 4096;
const UNKNOWN = "the API server does not know it";

export type TokenVerdict = { kind: "user"; user: User } | { kind: "refused"; why: string };

export interface TokensOptions {
  api: () => Promise<Pick<ApiClient, "create">>;
  cacheTTLMs: number;
  limits: ReviewLimits;
  clock: Clock;
  metrics: ServerAuthMetrics;
}

export class Tokens {
  private readonly cache: ExpiringCache<TokenVerdict>;
  private readonly questions = new SharedQuestions<TokenVerdict>();
  private readonly turns: ReviewTurns;
  private readonly salt = randomBytes(32);

  constructor(private readonly options: TokensOptions) {
    this.cache = new ExpiringCache(LIMIT, options.clock);
    this.turns = new ReviewTurns(options.limits, options.clock);
  }

  /**
   * Rejects when the review could not be created, with TooManyReviewsError when no request was sent.
   * @param network of the client, for fair turns
   */
  async verify(token: string, network: string): Promise<TokenVerdict> {
    const { metrics, cacheTTLMs } = this.options;
    const key = createHmac("sha256", this.salt).update(token).digest("base64");
    const known = this.cache.get(key);
    const done = metrics.tokenRequest(known !== undefined);
    if (known !== undefined) {
      done();
      return known;
    }
    try {
      // Not shared between networks: a refusal because of one network's queue would refuse the other.
      return await this.questions.ask(`${network} ${key}`, async () => {
        const verdict = await this.review(token, network);
        this.cache.set(key, verdict, verdict.kind === "user" ? cacheTTLMs : Math.min(cacheTTLMs, REFUSAL_TTL_MS));
        return verdict;
      });
    } finally {
      done();
    }
  }

  private async review(token: string, network: string): Promise<TokenVerdict> {
    const { api, metrics } = this.options;
    await this.turns.take(network);
    const done = metrics.tokenFetch();
    let status: TokenReview["status"];
    try {
      const client = await api();
      const review: TokenReview = {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        metadata: {},
        spec: { token },
      };
      ({ status } = await client.create(TOKEN_REVIEWS, review, { timeoutMs: REVIEW_TIMEOUT_MS }));
      done();
    } catch (error) {
      done(error);
      throw error;
    }
    const user = status?.authenticated === true ? reviewedUser(status.user) : undefined;
    if (user !== undefined) return { kind: "user", user };
    const why = typeof status?.error === "string" && status.error !== "" ? status.error : UNKNOWN;
    return { kind: "refused", why: `bearer token: ${why}` };
  }
}

/** A user in any other shape than upstream's types is rejected: partly decoded data must not grant anything. */
function reviewedUser(user: unknown): User | undefined {
  if (!isRecord(user)) return undefined;
  const { username: name, uid, groups, extra } = user;
  if (typeof name !== "string" || name === "") return undefined;
  if (!isAbsent(uid) && typeof uid !== "string") return undefined;
  if (!isAbsent(groups) && !isTexts(groups)) return undefined;
  if (
    !isAbsent(extra) &&
    !(isRecord(extra) && Object.values(extra).every((texts) => isAbsent(texts) || isTexts(texts)))
  ) {
    return undefined;
  }
  return {
    name,
    groups: groups ?? [],
    uid: isAbsent(uid) ? undefined : uid,
    extra: isAbsent(extra) ? undefined : (extra as Record<string, string[]>),
  };
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}
