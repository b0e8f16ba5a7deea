// The stop of a container: its grace period and its stop signal.

import { boundedSeconds } from "../../shared/base/clock/durations.js";
import type { Pod, Probe } from "../../shared/kubernetes/api/pod.js";

/** The runtime gets at least this long between the stop signal and SIGKILL. */
export const MIN_STOP_SECONDS = 2;

/**
 * Seconds a container of this pod gets to stop.
 * @param probe the probe that gave it up
 */
export function graceSeconds({ metadata, spec }: Pod, probe?: Probe): number {
  const grace =
    metadata.deletionGracePeriodSeconds ??
    probe?.terminationGracePeriodSeconds ??
    spec.terminationGracePeriodSeconds ??
    MIN_STOP_SECONDS;
  return boundedSeconds(grace, { least: MIN_STOP_SECONDS, fallback: MIN_STOP_SECONDS });
}
