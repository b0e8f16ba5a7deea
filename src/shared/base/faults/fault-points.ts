// Places in handlers where a test makes the next pass throw, to show how far the error reaches (docs/adr/0040).
// Invariant: nothing here has any effect until a fault order arms a point (main/kubelet/thread-owner.ts).

/** One per kind of handler that an event from outside of the thread enters. */
export const FAULT_POINTS = [
  "cri-reply",
  "cri-stream",
  "plugin-reply",
  "plugin-stream",
  "plugin-watch",
  "plugin-registration",
  "api-watch",
  "http-request",
  "http-route",
  "http-upgrade",
  "http2-session",
  "http2-request",
  "websocket-message",
  "runtime-data",
  "inotify",
  "ring-record",
  "thread-message",
  "child-exit",
] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

class FaultPointError extends Error {
  override readonly name = "FaultPointError";
  constructor(point: FaultPoint) {
    super(`thrown in ${point}, as ordered`);
  }
}

/** The fault point that is armed in this thread; at most one at a time. */
let armed: { point: FaultPoint; onThrow: () => void } | undefined;

/** The next pass through the point throws, once; `onThrow` is called just before. */
export function armFaultPoint(point: FaultPoint, onThrow: () => void = () => undefined): void {
  armed = { point, onThrow };
}

/** Stands first in a handler. @throws FaultPointError once a fault order armed it */
export function faultPoint(point: FaultPoint): void {
  if (armed === undefined || armed.point !== point) return;
  const { onThrow } = armed;
  armed = undefined;
  onThrow();
  throw new FaultPointError(point);
}
