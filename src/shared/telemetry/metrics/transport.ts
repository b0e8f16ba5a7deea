// Metrics of the connections to the API server: rest_client_transport_*. A client has one set of connections
// ("transport"), which other clients of its thread share; the set ends with the client. Names and labels:
// https://github.com/kubernetes/component-base/tree/master/metrics/prometheus/restclient

import type { ThreadRegistry } from "./thread-registry.js";

/** Result of a check of the certificate authority's file. */
export type CaReload =
  | { result: "success"; reason: "unchanged" | "updated" }
  | { result: "failure"; reason: "read_error" | "empty" | "ca_parse_error" };

export interface TransportMetrics {
  /** A client was made: with connections of its own, or over those of another client. */
  created(result: "miss" | "hit"): void;
  /** The connections were closed for good. `reloaded`: their client certificate was read from files again and again. */
  closed(reloaded: boolean): void;
  checkedCa(check: CaReload): void;
}

export function transportMetrics(registry: ThreadRegistry): TransportMetrics {
  const name = "rest_client_transport";
  const entries = registry.gauge(`${name}_cache_entries`, "Number of transport entries in the internal cache");
  const created = registry.counter(
    `${name}_create_calls_total`,
    "Number of calls to get a transport, by result: hit (shared with another client) or miss (created)",
    ["result"],
  );
  const reloads = registry.counter(
    `${name}_ca_reload_total`,
    "Number of checks of the certificate authority's file, by result and reason",
    ["result", "reason"],
  );
  const rotationEnds = registry.counter(
    `${name}_cert_rotation_gc_calls_total`,
    "Number of times the rotation of a client certificate ended because its transport was closed",
  );
  const ends = registry.counter(
    `${name}_cache_gc_calls_total`,
    "Number of removals of a transport cache entry, by result",
    ["result"],
  );
  return {
    created(result) {
      created.inc({ result });
      if (result === "miss") entries.inc();
    },
    closed(reloaded) {
      entries.dec();
      ends.inc({ result: "deleted" });
      if (reloaded) rotationEnds.inc();
    },
    checkedCa: (check) => reloads.inc(check),
  };
}
