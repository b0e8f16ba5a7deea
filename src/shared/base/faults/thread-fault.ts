// The faults that a thread can be ordered to commit on itself. thread/faults.ts commits them.

import type { FaultPoint } from "./fault-points.js";

/** `hang`: a busy loop without end. `heap`: a leak, beside the thread's other work, until its heap limit. */
export type ThreadFault = "hang" | "heap" | UncaughtFault | HandlerFault;

/** An error that no caller catches: in a timer, in a callback of a library, in a promise. */
export const UNCAUGHT_FAULTS = ["throw-timer", "throw-tick", "reject"] as const;
type UncaughtFault = (typeof UNCAUGHT_FAULTS)[number];

/** The next pass through a handler of this kind throws. */
export type HandlerFault = `throw-in ${FaultPoint}`;
