// After streams have ended, neither connections nor timers of them are left in the kubelet.

import { kernel } from "../kernel/kernel.js";
import { agentEndsOpen } from "../world/agent-end.js";
import type { Invariant } from "./invariant.js";

const THREAD = / secure-server$/;
/** Timers of the port's thread at rest. */
const OWN_TIMERS = 8;
/** Each open stream has one for idleness, and perhaps one for its end and one for signs of life. */
const TIMERS = 3;

export const streamsLeaveNothing: Invariant = {
  name: "streams leave no connections and timers",
  promisedBy: "SPECIFICATION.md",
  watch({ streams, trace }, broken) {
    if (streams === undefined) return undefined;
    return () => {
      const open = streams.open.size;
      const ends = agentEndsOpen();
      const timers = kernel.timersOf(THREAD);
      trace.add(`streams open: ${open}, ends of the kubelet: ${ends}, timers: ${timers}`);
      if (ends > 2 * open) broken(`${ends} connections are open with ${open} streams`);
      if (timers > OWN_TIMERS + TIMERS * open) broken(`${timers} timers are set with ${open} streams`);
    };
  },
};
