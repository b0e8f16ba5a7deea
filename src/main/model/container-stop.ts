// The stop of a container: its grace period and its stop signal.
import type { Pod, Probe } from "../../shared/api/pod.js";
import { boundedSeconds } from "../../shared/clock/durations.js";
import { Signal } from "../../shared/cri/gen/runtime.v1.js";

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

// Stop signals by name: "SIGTERM", "SIGRTMIN+3" in the API, enum values in CRI.

// An enum object also maps its numbers back to names; those keys are not signals.
const names = Object.keys(Signal).filter((key) => Number.isNaN(Number(key))) as (keyof typeof Signal)[];
const signalsByName = new Map<string, Signal>(names.map((name) => [name, Signal[name]]));

/** CRI value of a signal name; undefined for a name CRI does not know. */
export function criSignal(name: string): Signal | undefined {
  const key = name.replace("+", "PLUS").replace("-", "MINUS");
  if (key === "RUNTIME_DEFAULT") return undefined;
  return signalsByName.get(key);
}

/** API name of a CRI value; undefined for "the runtime's default". */
export function signalName(signal: Signal): string | undefined {
  if (signal === Signal.RUNTIME_DEFAULT) return undefined;
  return Signal[signal].replace("PLUS", "+").replace("MINUS", "-");
}
