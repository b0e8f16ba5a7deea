// A thread as the fault hook sees it (agent/fault-hook.ts): tests break threads on order.
import type { ThreadFault } from "../../shared/thread/faults.js";

/** The part of a supervised thread that is used. */
export interface Breakable {
  terminate(): Promise<void>;
  commitFault(fault: ThreadFault): void;
}
