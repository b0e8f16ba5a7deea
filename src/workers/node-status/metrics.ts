// Metrics of the node-status thread: heartbeats, and how long a new node took to be ready.

import type { WallTime } from "../../shared/base/clock/moments.js";
import type { ThreadRegistry } from "../../shared/telemetry/metrics/thread-registry.js";

export interface LeaseMetrics {
  renewed(ok: boolean): void;
  /** A part of the kubelet was stuck. */
  withheld(): void;
}

export interface StatusMetrics {
  /** A round came to a patch. */
  reported(ok: boolean): void;
}

export interface NodeStartup {
  machineStartedAt: WallTime;
  agentStartedAt: WallTime;
  firstRegistrationAt: WallTime;
  registeredAt: WallTime;
  readyAt: WallTime;
}

export interface NodeStatusMetrics extends LeaseMetrics, StatusMetrics {
  /** Records the start-up times of a Node that this kubelet created. */
  startedUp(times: NodeStartup): void;
}

export function nodeStatusMetrics(registry: ThreadRegistry): NodeStatusMetrics {
  const leases = registry.counter(
    "nodelet_node_lease_renewals_total",
    "Number of attempts to renew the node lease, by result",
    ["result"],
  );
  const withheld = registry.counter(
    "nodelet_node_lease_withheld_total",
    "Number of lease renewals that were skipped because a thread of the kubelet was stuck",
  );
  const reports = registry.counter("nodelet_node_status_reports_total", "Number of node status updates, by result", [
    "result",
  ]);
  for (const result of ["success", "error"] as const) {
    leases.inc({ result }, 0);
    reports.inc({ result }, 0);
  }
  return {
    renewed: (ok) => leases.inc({ result: ok ? "success" : "error" }),
    withheld: () => withheld.inc(),
    reported: (ok) => reports.inc({ result: ok ? "success" : "error" }),
    startedUp(times) {
      const phase = (name: string, help: string, from: number, to: number): void =>
        registry.gauge(`kubelet_node_startup_${name}duration_seconds`, help).set((to - from) / 1000);
      const { machineStartedAt, agentStartedAt, firstRegistrationAt, registeredAt, readyAt } = times;
      phase("", "Duration in seconds from the start of the machine until the node is ready", machineStartedAt, readyAt);
      phase(
        "pre_kubelet_",
        "Duration in seconds from the start of the machine to the start of the kubelet",
        machineStartedAt,
        agentStartedAt,
      );
      phase(
        "pre_registration_",
        "Duration in seconds from the start of the kubelet to its first attempt to register the node",
        agentStartedAt,
        firstRegistrationAt,
      );
      phase(
        "registration_",
        "Duration in seconds from the first registration attempt to the created Node",
        firstRegistrationAt,
        registeredAt,
      );
      phase("post_registration_", "Duration in seconds from the created Node to the ready Node", registeredAt, readyAt);
    },
  };
}
