// The stop of a container: its grace period and its stop signal.

import { boundedSeconds } from "../../shared/base/clock/durations.js";
import type { SteadyTime } from "../../shared/base/clock/moments.js";
import type { Pod, Probe } from "../../shared/kubernetes/api/pod.js";

/** The runtime gets at least this long between the stop signal and SIGKILL. */
const MIN_STOP_SECONDS = 2;

/** Seconds that a container gets to stop when its grace period ends at `deadline`. */
export function secondsLeft(deadline: SteadyTime, now: SteadyTime): number {
  return Math.max(Math.ceil((deadline - now) / 1000), MIN_STOP_SECONDS);
}

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
