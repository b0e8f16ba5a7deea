// The node's certificates as upstream counts them. Main thread only.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";

/** Seconds. */
const AGE_BUCKETS = [60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000];

export interface CertificateMetrics {
  /** `notAfter`: milliseconds since the epoch; undefined while there is none. */
  watchClient(notAfter: () => number | undefined): void;
  watchServing(notAfter: () => number | undefined): void;
  clientRenewFailed(): void;
  servingRenewFailed(): void;
  /** Seconds. */
  servingRotated(age: number): void;
}

export function certificateMetrics(registry: ThreadRegistry, clock: Clock): CertificateMetrics {
  const failed = registry.counter(
    "kubelet_certificate_manager_client_expiration_renew_errors",
    "Counter of certificate renewal errors",
  );
  const servingFailed = registry.counter(
    "kubelet_server_expiration_renew_errors",
    "Counter of certificate renewal errors",
  );
  const age = registry.histogram(
    "kubelet_certificate_manager_server_rotation_seconds",
    "Histogram of the number of seconds that a serving certificate was in use before it was rotated",
    [],
    AGE_BUCKETS,
  );
  const left = (notAfter: number | undefined): number =>
    notAfter === undefined ? Infinity : (notAfter - clock.now()) / 1000;
  const watch = (what: "client" | "server") => (notAfter: () => number | undefined) => {
    const gauge = registry.gauge(
      `kubelet_certificate_manager_${what}_ttl_seconds`,
      `Shortest TTL (time to live) in seconds of the kubelet's ${what === "client" ? "client" : "serving"} certificate; +Inf without a certificate`,
    );
    registry.onSnapshot(() => gauge.set(left(notAfter())));
  };
  return {
    watchClient: watch("client"),
    watchServing: watch("server"),
    clientRenewFailed: () => failed.inc(),
    servingRenewFailed: () => servingFailed.inc(),
    servingRotated: (seconds) => age.observe(seconds),
  };
}
