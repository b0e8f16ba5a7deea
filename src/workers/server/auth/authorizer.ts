// Authorization: AlwaysAllow, or by the API server's SubjectAccessReview. Results are cached, allowed and denied each
// for their time; failures are not.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { AuthorizationInit, ReviewLimits } from "../../../shared/contracts/server.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { ExpiringCache, SharedQuestions } from "./expiring-cache.js";
import type { ServerAuthMetrics } from "./metrics.js";
import { ReviewTurns, TooManyReviewsError } from "./review-turns.js";
import { REVIEW_TIMEOUT_MS, SUBJECT_ACCESS_REVIEWS, type SubjectAccessReview } from "./reviews.js";
import type { User } from "./user.js";

const LIMIT = 8192;

export type Decision =
  | { kind: "allowed" }
  | { kind: "forbidden" }
  | { kind: "failed"; subresource: string; error: unknown };

const ALLOWED: Decision = { kind: "allowed" };

export interface Access {
  user: User;
  verb: string;
  /** Any one of them suffices. */
  subresources: readonly string[];
  /** The client's network, for fair turns. */
  network: string;
}

export interface AuthorizerOptions {
  authorization: AuthorizationInit;
  limits: ReviewLimits;
  nodeName: string;
  api: () => Promise<Pick<ApiClient, "create">>;
  clock: Clock;
  metrics: ServerAuthMetrics;
}

export class Authorizer {
  private readonly cache: ExpiringCache<boolean>;
  private readonly turns: ReviewTurns;
  private readonly questions = new SharedQuestions<boolean>();

  constructor(private readonly options: AuthorizerOptions) {
    this.cache = new ExpiringCache(LIMIT, options.clock);
    this.turns = new ReviewTurns(options.limits, options.clock);
  }

  /** Rejects with TooManyReviewsError only. */
  async decide({ user, verb, subresources, network }: Access): Promise<Decision> {
    if (this.options.authorization.mode === "AlwaysAllow") return ALLOWED;
    for (const subresource of subresources) {
      try {
        if (await this.mayUse({ user, verb, network }, subresource)) return ALLOWED;
      } catch (error) {
        if (error instanceof TooManyReviewsError) throw error;
        return { kind: "failed", subresource, error };
      }
    }
    return { kind: "forbidden" };
  }

  private async mayUse({ user, verb, network }: Omit<Access, "subresources">, subresource: string): Promise<boolean> {
    const { cacheAuthorizedTTLMs, cacheUnauthorizedTTLMs } = this.options.authorization;
    const { name, uid, groups, extra } = user;
    const resourceAttributes = { verb, version: "v1", resource: "nodes", subresource, name: this.options.nodeName };
    const spec = omitUndefined<SubjectAccessReview["spec"]>({
      user: name,
      uid,
      groups,
      extra,
      resourceAttributes,
    });
    const key = JSON.stringify(spec);
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    return await this.questions.ask(`${network} ${key}`, async () => {
      const allowed = await this.review(spec, network);
      this.cache.set(key, allowed, allowed ? cacheAuthorizedTTLMs : cacheUnauthorizedTTLMs);
      return allowed;
    });
  }

  private async review(spec: SubjectAccessReview["spec"], network: string): Promise<boolean> {
    const { api, metrics } = this.options;
    await this.turns.take(network);
    const done = metrics.accessReview();
    try {
      const client = await api();
      const review: SubjectAccessReview = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: {},
        spec,
      };
      const { status } = await client.create(SUBJECT_ACCESS_REVIEWS, review, { timeoutMs: REVIEW_TIMEOUT_MS });
      done();
      return status?.allowed === true && status.denied !== true;
    } catch (error) {
      done(error);
      throw error;
    }
  }
}
