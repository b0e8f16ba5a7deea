// Stop signals by name: "SIGTERM", "SIGRTMIN+3" in the API, enum values in CRI.

import { Signal } from "../../shared/kubernetes/cri/gen/runtime.v1.js";

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
