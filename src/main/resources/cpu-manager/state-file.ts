// The state on disk, cpu_manager_state below the root directory.
// Invariant: a promise that is awaited is on disk, synced, or its loss was logged.

import { join } from "path/posix";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { LatestWrite } from "../../../shared/io/fs/latest-write.js";
import { readState, removeLeftovers } from "../../../shared/io/fs/state-file.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/thread-log.js";
import { CPU_STATE_FILE, type CpuAssignments, decodeCpuState, encodeCpuState } from "./checkpoint.js";
import { cpuStateMismatchError } from "./errors.js";

export class CpuStateFile {
  readonly path: string;

  constructor(
    rootDir: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.path = join(rootDir, CPU_STATE_FILE);
  }

  /**
   * Undefined: there is none, or garbage that was set aside. Rejects with OperatorError when it is another policy's.
   */
  async read(policyName: string): Promise<CpuAssignments | undefined> {
    const { path, clock, log } = this;
    const state = await readState(path, decodeCpuState, { clock, log });
    if (state === undefined || state.policyName === policyName) return state;
    const [configured, kept] = [JSON.stringify(policyName), JSON.stringify(state.policyName)];
    throw cpuStateMismatchError(path, `configured policy ${configured} differs from state checkpoint policy ${kept}`);
  }

  async removeLeftovers(): Promise<void> {
    await removeLeftovers(this.path);
  }

  /** Writes the result of `current` at its turn; a failed write is logged once. */
  saving(current: () => CpuAssignments): LatestWrite {
    const { path, log } = this;
    return new LatestWrite({
      write: () => atomicWrite(path, encodeCpuState(current())),
      failed: (error) =>
        log.error(
          { path, err: error },
          `cannot write ${path}: ${errorText(error)}; running containers keep their CPUs, pods that need exclusive CPUs ` +
            `are rejected until writing succeeds`,
        ),
    });
  }
}
