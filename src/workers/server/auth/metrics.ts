// Metrics of authentication and authorization on the kubelet's server: token reviews, access reviews, client
// certificates.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { ApiError } from "../../../shared/kubernetes/api/client/errors.js";
import { DEFAULT_BUCKETS, type ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Call when the review has returned; with an error if it failed. */
type Done = (error?: unknown) => void;

export interface ServerAuthMetrics {
  tokenRequest(cached: boolean): () => void;
  tokenFetch(): Done;
  accessReview(): Done;
  /** @param seconds until the certificate that was shown ends */
  certificate(seconds: number): void;
}

const DELEGATED_BUCKETS = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];
const EXPIRATION_BUCKETS = [
  0, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000,
];

export function serverAuthMetrics(registry: ThreadRegistry, clock: Pick<Clock, "monotonic">): ServerAuthMetrics {
  const cache = "authentication_token_cache";
  const requests = registry.counter(`${cache}_request_total`, "Number of token authentications, by cache status", [
    "status",
  ]);
  const requestSeconds = registry.histogram(
    `${cache}_request_duration_seconds`,
    "Latency in seconds of TokenReviews and cache lookups for a token, by status",
    ["status"],
    DEFAULT_BUCKETS,
  );
  const fetches = registry.counter(
    `${cache}_fetch_total`,
    "Number of TokenReviews for tokens that were not cached, by status",
    ["status"],
  );
  const active = registry.gauge(`${cache}_active_fetch_count`, "Number of TokenReviews in progress", ["status"]);
  const authn = delegated(registry, clock, "authn", "token");
  const authz = delegated(registry, clock, "authz", "access");
  const expiration = registry.histogram(
    "apiserver_client_certificate_expiration_seconds",
    "Distribution of the remaining lifetime of the certificates used to authenticate a request",
    [],
    EXPIRATION_BUCKETS,
  );
  return {
    tokenRequest: (cached) => {
      const startedAt = clock.monotonic();
      const status = cached ? "hit" : "miss";
      return () => {
        requests.inc({ status });
        requestSeconds.observe({ status }, (clock.monotonic() - startedAt) / 1000);
      };
    },
    tokenFetch: () => {
      active.inc({ status: "in_flight" });
      const end = authn();
      return (error) => {
        active.dec({ status: "in_flight" });
        fetches.inc({ status: error === undefined ? "ok" : "error" });
        end(error);
      };
    },
    accessReview: authz,
    certificate: (seconds) => expiration.observe(seconds),
  };
}

function delegated(
  registry: ThreadRegistry,
  clock: Pick<Clock, "monotonic">,
  what: "authn" | "authz",
  review: string,
): () => Done {
  const name = `apiserver_delegated_${what}_request`;
  const total = registry.counter(`${name}_total`, `Number of ${review} reviews, by status code`, ["code"]);
  const seconds = registry.histogram(
    `${name}_duration_seconds`,
    `Time to a review of ${review}`,
    ["code"],
    DELEGATED_BUCKETS,
  );
  return () => {
    const startedAt = clock.monotonic();
    return (error) => {
      const code = error === undefined ? "200" : error instanceof ApiError ? String(error.status) : "<error>";
      total.inc({ code });
      seconds.observe({ code }, (clock.monotonic() - startedAt) / 1000);
    };
  };
}
