// Metrics of calls to the API server: rest_client_*. One instance per thread that calls it.

import type { Clock } from "../../base/clock/clock.js";
import { makeMetrics, type MetricRows } from "./metric-rows.js";
import type { ThreadRegistry } from "./thread-registry.js";
import { transportMetrics, type TransportMetrics } from "./transport.js";

const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const DNS_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30];
const ROTATION_SECONDS = [
  600, 1800, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
];
const BYTES = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Verb and host of a call to the API server. */
export interface CallLabels {
  verb: string;
  /** With its port. */
  host: string;
}

export interface RestClientMetrics {
  /** Each attempt; `code`: HTTP's, or "<error>" without a response. */
  answered(call: CallLabels, code: string): void;
  /** An attempt of that outcome is made again. */
  retried(call: CallLabels, code: string): void;
  /** Waited for its turn. */
  throttled(call: CallLabels, ms: number): void;
  /** All of a call, with waits and retries; bytes of the bodies, unpacked. */
  done(call: CallLabels, ms: number, sent: number, received: number | undefined): void;
  /** A run of a credential plugin; `expiresAt`: ms since the epoch, undefined: never. */
  ranPlugin(code: number, status: string, expiresAt: number | undefined): void;
  /** The name of the API server, or of the proxy to it, was resolved. */
  resolved(host: string, ms: number): void;
  /** A credential plugin gave another client certificate; the one before had existed so long. */
  rotatedCertificate(ageMs: number): void;
  readonly transport: TransportMetrics;
}

const REST_CLIENT_METRICS = {
  requests: (registry) =>
    registry.counter("rest_client_requests_total", "Number of HTTP requests, by status code, method and host", [
      "code",
      "method",
      "host",
    ]),
  retries: (registry) =>
    registry.counter("rest_client_request_retries_total", "Number of request retries, by status code, verb and host", [
      "code",
      "verb",
      "host",
    ]),
  duration: (registry) =>
    registry.histogram(
      "rest_client_request_duration_seconds",
      "Request latency in seconds, by verb and host",
      ["verb", "host"],
      SECONDS,
    ),
  limiter: (registry) =>
    registry.histogram(
      "rest_client_rate_limiter_duration_seconds",
      "Client side rate limiter latency in seconds, by verb and host",
      ["verb", "host"],
      SECONDS,
    ),
  sentBytes: (registry) =>
    registry.histogram(
      "rest_client_request_size_bytes",
      "Request size in bytes, by verb and host",
      ["verb", "host"],
      BYTES,
    ),
  receivedBytes: (registry) =>
    registry.histogram(
      "rest_client_response_size_bytes",
      "Response size in bytes, by verb and host",
      ["verb", "host"],
      BYTES,
    ),
  plugins: (registry) =>
    registry.counter(
      "rest_client_exec_plugin_call_total",
      "Number of calls to exec credential plugins, by exit code and call status",
      ["code", "call_status"],
    ),
  ttl: (registry) =>
    registry.gauge(
      "rest_client_exec_plugin_ttl_seconds",
      "Shortest TTL in seconds of the credentials from exec credential plugins; +Inf without an expiry",
    ),
  dns: (registry) =>
    registry.histogram(
      "rest_client_dns_resolution_duration_seconds",
      "DNS resolver latency in seconds, by host",
      ["host"],
      DNS_SECONDS,
    ),
  rotation: (registry) =>
    registry.histogram(
      "rest_client_exec_plugin_certificate_rotation_age",
      "Seconds that the last client certificate of an exec credential plugin lived before it was rotated",
      [],
      ROTATION_SECONDS,
    ),
} satisfies MetricRows;

export function restClientMetrics(registry: ThreadRegistry, clock: Pick<Clock, "now">): RestClientMetrics {
  const made = makeMetrics(REST_CLIENT_METRICS, registry);
  let endsAt = Infinity;
  registry.onSnapshot(() => made.ttl.set((endsAt - clock.now()) / 1000));
  return {
    answered: ({ verb, host }, code) => made.requests.inc({ code, method: verb, host }),
    retried: ({ verb, host }, code) => made.retries.inc({ code, verb, host }),
    throttled: ({ verb, host }, ms) => made.limiter.observe({ verb, host }, ms / 1000),
    done({ verb, host }, ms, sent, received) {
      made.duration.observe({ verb, host }, ms / 1000);
      made.sentBytes.observe({ verb, host }, sent);
      if (received !== undefined) made.receivedBytes.observe({ verb, host }, received);
    },
    ranPlugin(code, status, expiresAt) {
      made.plugins.inc({ code, call_status: status });
      if (status === "no_error") endsAt = expiresAt ?? Infinity;
    },
    resolved: (host, ms) => made.dns.observe({ host }, ms / 1000),
    rotatedCertificate: (ageMs) => made.rotation.observe(ageMs / 1000),
    transport: transportMetrics(registry),
  };
}
