// Stop signals by name: "SIGTERM", "SIGRTMIN+3" in the API, enum values in CRI.
import { Signal } from "../../../shared/cri/gen/runtime.v1.js";

/** CRI value of a signal name; undefined for a name CRI does not know. */
export function criSignal(name: string): Signal | undefined {
  const key = name.replace("+", "PLUS").replace("-", "MINUS");
  if (key === "RUNTIME_DEFAULT") return undefined;
  const value: unknown = Object.entries(Signal).find(([enumName]) => enumName === key)?.[1];
  return typeof value === "number" ? value : undefined;
}

/** API name of a CRI value; undefined for "the runtime's default". */
export function signalName(signal: Signal): string | undefined {
  if (signal === Signal.RUNTIME_DEFAULT) return undefined;
  return Signal[signal].replace("PLUS", "+").replace("MINUS", "-");
}
