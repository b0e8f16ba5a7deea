// Faults that a thread commits on itself by order, for tests of the supervisor that no outside program can cause.
// Invariant: main sends the order only when the kubelet runs with NODELET_FAULTS=1 (main/kubelet/thread-owner.ts).

import type { Clock } from "../base/clock/clock.js";
import { armFaultPoint, FAULT_POINTS, type FaultPoint } from "../base/faults/fault-points.js";
import type { HandlerFault, ThreadFault } from "../base/faults/thread-fault.js";
import type { Logger } from "../telemetry/log/logger.js";

class OrderedFaultError extends Error {
  override readonly name = "OrderedFaultError";
  constructor(fault: ThreadFault) {
    super(`${fault}, as ordered`);
  }
}

/** Live objects added per tick: 2 MiB. */
const LEAKED_ARRAYS = 256;
const ARRAY_LENGTH = 1024;

/** The supervisor, or the heap limit, ends the thread. */
export function commitFault(fault: ThreadFault, clock: Clock, log: Pick<Logger, "warn">): void {
  switch (fault) {
    case "hang":
      for (;;);
    case "throw-timer":
      clock.after(0, () => {
        throw new OrderedFaultError(fault);
      });
      return;
    case "throw-tick":
      process.nextTick(() => {
        throw new OrderedFaultError(fault);
      });
      return;
    case "reject":
      void Promise.reject(new OrderedFaultError(fault));
      return;
    case "heap":
      fillHeap(clock);
      return;
    default:
      arm(pointOf(fault), log);
  }
}

function fillHeap(clock: Clock): void {
  const leaked: number[][] = [];
  clock.every(1, () => {
    for (let count = 0; count < LEAKED_ARRAYS; count++) leaked.push(new Array<number>(ARRAY_LENGTH).fill(0.5));
  });
}

function arm(point: FaultPoint, log: Pick<Logger, "warn">): void {
  armFaultPoint(point, () => log.warn(`fault point ${point} throws`));
  log.warn(`fault point ${point} is armed`);
}

function pointOf(fault: HandlerFault): FaultPoint {
  const point = FAULT_POINTS.find((one) => fault === `throw-in ${one}`);
  if (point === undefined) throw new Error(`no fault point: ${fault}`);
  return point;
}
