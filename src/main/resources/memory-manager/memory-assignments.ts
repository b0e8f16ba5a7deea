// Who holds which memory, in the agent and on disk (memory_manager_state). Invariant: what a container was promised is
// on disk before it may run; what is read back was promised by the same machine, or still fits it.
import { LatestWrite } from "../../../shared/fs/latest-write.js";
import { join } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import { atomicWrite } from "../../../shared/fs/atomic-write.js";
import { readState } from "../../../shared/fs/state-file.js";
import { errorText } from "../../../shared/log/error-text.js";
import type { Logger } from "../../../shared/log/logger.js";
import { decodeMemoryState, encodeMemoryState, MEMORY_STATE_FILE } from "./checkpoint.js";
import { MemoryStateError, refuseOthers } from "./state-error.js";
import { occupied, sumOn, type MachineMemory, type MemoryAssignments, type MemoryBlock } from "./machine-memory.js";

const POLICY = "Static";

export class HeldMemory {
  private readonly held = new Map<string, Map<string, readonly MemoryBlock[]>>();
  private readonly path: string;
  private readonly file: LatestWrite;

  constructor(
    rootDir: string,
    /** The machine with nothing held. */
    private readonly empty: MachineMemory,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.path = join(rootDir, MEMORY_STATE_FILE);
    this.file = new LatestWrite({
      write: () => {
        const state = { policyName: POLICY, machineState: this.machine(), entries: this.held };
        return atomicWrite(this.path, encodeMemoryState(state));
      },
      failed: (error) =>
        log.error(
          { err: error, path: this.path },
          `cannot write ${this.path}: the next kubelet would not know the memory assignments: ${errorText(error)}`,
        ),
    });
  }

  /** Reads what an earlier agent left, of these pods. Garbage is set aside with a warning. @throws MemoryStateError */
  async load(uids: ReadonlySet<string>): Promise<void> {
    const state = await readState(this.path, decodeMemoryState, { clock: this.clock, log: this.log });
    if (state !== undefined) refuseOthers(state, POLICY, this.path);
    for (const [uid, containers] of state?.entries ?? []) if (uids.has(uid)) this.held.set(uid, new Map(containers));
    const problem = misfit(this.empty, this.held);
    if (problem !== undefined)
      throw new MemoryStateError(this.path, `the expected machine state is different from the real one: ${problem}`);
    await this.file.request();
  }

  machine(): MachineMemory {
    return occupied(this.empty, this.held);
  }

  blocks(podUid: string, container: string): readonly MemoryBlock[] | undefined {
    return this.held.get(podUid)?.get(container);
  }

  /** Settles when it is on disk, or could not be written. */
  async hold(podUid: string, containers: ReadonlyMap<string, readonly MemoryBlock[]>): Promise<void> {
    this.held.set(podUid, new Map([...(this.held.get(podUid) ?? []), ...containers]));
    await this.file.request();
  }

  release(podUid: string): void {
    if (this.held.delete(podUid)) void this.file.request();
  }

  async flush(): Promise<void> {
    await this.file.settled();
  }
}

/** What of the promises the machine can't keep; undefined: it keeps all. */
function misfit(empty: MachineMemory, held: MemoryAssignments): string | undefined {
  const sums = new Map<string, bigint>();
  for (const [uid, containers] of held) {
    for (const [name, blocks] of containers) {
      for (const { numaAffinity, type, size } of blocks) {
        const who = `container ${name} of pod ${uid}`;
        const missing = numaAffinity.find((id) => !empty.has(id));
        if (missing !== undefined) return `${who} has memory of NUMA node ${missing}, which does not exist`;
        if (size > 0n && numaAffinity.every((id) => empty.get(id)?.memoryMap.has(type) !== true)) {
          return `${who} has ${type}, of which NUMA node ${numaAffinity.join(", ")} has none`;
        }
        const key = `${type} of NUMA node ${numaAffinity.join(", ")}`;
        const sum = (sums.get(key) ?? 0n) + size;
        sums.set(key, sum);
        const has = sumOn(empty, numaAffinity, type, "allocatable");
        if (sum > has) return `pods have ${sum} bytes of ${key}, of which there are ${has}`;
      }
    }
  }
  return undefined;
}
