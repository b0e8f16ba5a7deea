// A thread's interface for the fault hook (kubelet/fault-hook.ts): tests break threads on command.

import type { ThreadFault } from "../../shared/base/faults/thread-fault.js";

/** The part of a supervised thread that is used. */
export interface Breakable {
  terminate(): Promise<void>;
  commitFault(fault: ThreadFault): void;
}
