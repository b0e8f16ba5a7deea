// Two ports: the latest probe results for the planner and the status, and the prober thread for the probe manager.

/** Liveness and startup end with `terminating`, readiness when the containers have stopped. */
export type ProbedPodState = "syncing" | "finished" | "terminating";
