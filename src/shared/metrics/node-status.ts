// Metrics of the node-status thread: heartbeats, and how long a new node took to be ready.
import type { ThreadRegistry } from "./thread-registry.js";

export interface LeaseMetrics {
  renewed(ok: boolean): void;
  /** A part of the agent was stuck. */
  withheld(): void;
}

export interface StatusMetrics {
  /** A round came to a patch. */
  reported(ok: boolean): void;
}

/** Wall times, ms. */
export interface NodeStartup {
  machineStartedAt: number;
  agentStartedAt: number;
  firstRegistrationAt: number;
  registeredAt: number;
  readyAt: number;
}

export interface NodeStatusMetrics extends LeaseMetrics, StatusMetrics {
  /** Of a Node that this agent made. */
  startedUp(times: NodeStartup): void;
}

export function nodeStatusMetrics(registry: ThreadRegistry): NodeStatusMetrics {
  const leases = registry.counter("nodelet_node_lease_renewals_total", "Tries to renew the node's lease, by outcome", [
    "result",
  ]);
  const withheld = registry.counter(
    "nodelet_node_lease_withheld_total",
    "Turns at which the node's lease was left to run out, because a part of the agent was stuck",
  );
  const reports = registry.counter("nodelet_node_status_reports_total", "Node statuses sent, by outcome", ["result"]);
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
      phase("", "From the machine's start to the node's being ready", machineStartedAt, readyAt);
      phase("pre_kubelet_", "From the machine's start to the agent's", machineStartedAt, agentStartedAt);
      phase(
        "pre_registration_",
        "From the agent's start to its first try to register",
        agentStartedAt,
        firstRegistrationAt,
      );
      phase(
        "registration_",
        "From the first try to register to the Node's being made",
        firstRegistrationAt,
        registeredAt,
      );
      phase("post_registration_", "From the Node's being made to its being ready", registeredAt, readyAt);
    },
  };
}
