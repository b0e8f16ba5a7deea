// Which changes of a status somebody waits for: ends, readiness, the first Running. Others may wait for company.
import type { PodStatus } from "../../../shared/api/pod-status.js";
import { isFinalPhase } from "../phase.js";

/** `api`: what the server has. */
export function isUrgent(api: PodStatus | undefined, next: PodStatus): boolean {
  if (isFinalPhase(next.phase)) return true;
  if (next.phase === "Running" && api?.phase !== "Running") return true;
  return ready(api) !== ready(next);
}

function ready(status: PodStatus | undefined): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
}
