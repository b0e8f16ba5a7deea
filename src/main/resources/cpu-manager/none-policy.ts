// cpuManagerPolicy: none hands out nothing and keeps no state. A state that a kubelet with policy static has left must not be
// passed over: its containers sit on CPUs of their own, and the shared ones beside them.
import type { Clock } from "../../../shared/clock/clock.js";
import type { Logger } from "../../../shared/log/logger.js";
import { CpuStateFile } from "./state.js";

/** One read of a file that mostly is not there. Rejects with CpuStateMismatchError. */
export async function checkNoCpuPolicy(rootDir: string, clock: Clock, log: Logger): Promise<void> {
  await new CpuStateFile(rootDir, clock, log).read("none");
}
