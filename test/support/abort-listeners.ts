// What a signal still holds of those who listened to it: its listeners, and Node's own list of the signals made from it.
import { getEventListeners } from "node:events";

export function heldBy(signal: AbortSignal): number {
  const own = Object.getOwnPropertySymbols(signal).find(({ description }) => description === "kDependantSignals");
  const dependants = own === undefined ? undefined : (signal as unknown as Record<symbol, { size: number }>)[own];
  return getEventListeners(signal, "abort").length + (dependants?.size ?? 0);
}
