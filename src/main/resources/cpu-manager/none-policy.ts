// cpuManagerPolicy: none hands out nothing and keeps no state. A state that a kubelet with policy static left must not
// be ignored. Its containers run on exclusive CPUs, and the containers on shared CPUs beside them.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { CpuStateFile } from "./state-file.js";

/** One read of a file that mostly is not there. Rejects with OperatorError. */
export async function checkNoCpuPolicy(rootDir: string, clock: Clock, log: Logger): Promise<void> {
  await new CpuStateFile(rootDir, clock, log).read("none");
}
