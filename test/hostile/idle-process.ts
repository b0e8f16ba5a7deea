// A process that does nothing, at the kubelet's niceness: how long the machine itself keeps its event loop from
// running. It is measured as the kubelet measures main (`watchLoopDelay`).

import { monitorEventLoopDelay } from "node:perf_hooks";
import { AGENT_NICENESS, raisePriority } from "../../src/main/process/unix/process-limits.js";

const RESOLUTION_MS = 50;

raisePriority(AGENT_NICENESS, console);
const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
histogram.enable();
process.once("message", () => {
  process.send?.(Math.max(0, histogram.max / 1e6 - RESOLUTION_MS), () => process.disconnect());
});
