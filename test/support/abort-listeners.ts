// Counts the listeners of an abort signal and, up to Node 22, the signals that AbortSignal.any made from it. Node 24
// hides those.

import { getEventListeners } from "node:events";

export function heldBy(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length + (dependants(signal)?.size ?? 0);
}

/** undefined where this Node does not show them. */
export function dependants(signal: AbortSignal): { readonly size: number } | undefined {
  const own = Object.getOwnPropertySymbols(signal).find(({ description }) => description === "kDependantSignals");
  return own === undefined ? undefined : (signal as unknown as Record<symbol, { size: number }>)[own];
}
