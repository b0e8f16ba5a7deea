// Policy None allocates nothing, but must respect allocations of another policy.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { readState } from "../../../shared/io/fs/state-file.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { decodeMemoryState, MEMORY_STATE_FILE } from "./checkpoint.js";
import { refuseOthers } from "./state-error.js";

/** Rejects with OperatorError. */
export async function checkNoMemoryPolicy(rootDir: string, clock: Clock, log: Logger): Promise<void> {
  const path = join(rootDir, MEMORY_STATE_FILE);
  const state = await readState(path, decodeMemoryState, { clock, log });
  if (state !== undefined) refuseOthers(state, "None", path);
}
