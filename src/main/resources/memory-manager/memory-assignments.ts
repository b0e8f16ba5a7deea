// The memory assigned to each container, in the kubelet and on disk (memory_manager_state).
// Invariant: an assignment is on disk before its container may run; an assignment that is read back is of the same
// machine, or still fits it; the assignment of a pod of unknown definition stays until nothing of the pod runs.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { LatestWrite } from "../../../shared/io/fs/latest-write.js";
import { lastSetAside, readState, removeLeftovers } from "../../../shared/io/fs/state-file.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { LostState } from "../assignment/unknown-holders.js";
import { decodeMemoryState, encodeMemoryState, MEMORY_STATE_FILE } from "./checkpoint.js";
import { occupied, sumOn, type MachineMemory, type MemoryAssignments, type MemoryBlock } from "./machine-memory.js";
import { refuseOthers, memoryStateError } from "./state-error.js";

const POLICY = "Static";

export class HeldMemory {
  private readonly held = new Map<PodUid, Map<string, readonly MemoryBlock[]>>();
  /** Memory of pods as a whole, of which the containers in `held` have their parts. */
  private readonly pods = new Map<PodUid, readonly MemoryBlock[]>();
  private readonly path: string;
  private readonly file: LatestWrite;

  constructor(
    rootDir: string,
    /** The machine with nothing held. */
    private readonly empty: MachineMemory,
    private readonly clock: Clock,
    private readonly log: Logger,
    /** Gate PodLevelResourceManagers: the file can hold memory of pods as a whole. */
    private readonly withPods: boolean,
  ) {
    this.path = join(rootDir, MEMORY_STATE_FILE);
    this.file = new LatestWrite({
      write: () => {
        const { held: entries, pods, withPods } = this;
        const state = { policyName: POLICY, machineState: this.machine(), entries };
        return atomicWrite(this.path, encodeMemoryState({ ...state, pods: withPods ? pods : undefined }));
      },
      failed: (error) =>
        log.error(
          { err: error, path: this.path },
          `cannot write ${this.path}: ${errorText(error)}; pods that need memory of NUMA nodes are rejected until writing succeeds`,
        ),
    });
  }

  /**
   * Reads the state of the previous kubelet process. A damaged file is set aside with a warning.
   * @throws OperatorError when what these pods hold does not fit the machine
   * @returns the file that was set aside, now or earlier
   */
  async load(uids: ReadonlySet<PodUid>): Promise<LostState | undefined> {
    await removeLeftovers(this.path);
    const state = await readState(this.path, decodeMemoryState, { clock: this.clock, log: this.log });
    if (state !== undefined) refuseOthers(state, POLICY, this.path);
    // Without the gate no pod has memory as a whole any more, nor have its containers.
    const entries = [...(state?.entries ?? [])].filter(([uid]) => this.withPods || state?.pods?.has(uid) !== true);
    const take = (wanted: (uid: PodUid) => boolean): void => {
      for (const [uid, containers] of entries.filter(([uid]) => wanted(uid))) {
        this.held.set(uid, new Map(containers));
        const whole = state?.pods?.get(uid);
        if (whole !== undefined) this.pods.set(uid, whole);
      }
    };
    take((uid) => uids.has(uid));
    const problem = misfit(this.empty, this.taken());
    if (problem !== undefined)
      throw memoryStateError(this.path, `the expected machine state is different from the real one: ${problem}`);
    take((uid) => !uids.has(uid));
    await this.file.request();
    const aside = await lastSetAside(this.path);
    return aside === undefined ? undefined : { path: this.path, aside };
  }

  has(podUid: PodUid): boolean {
    return this.held.has(podUid);
  }

  uids(): PodUid[] {
    return [...this.held.keys()];
  }

  machine(): MachineMemory {
    return occupied(this.empty, this.taken());
  }

  /** Memory of the pod as a whole. */
  ofPod(podUid: PodUid): readonly MemoryBlock[] | undefined {
    return this.pods.get(podUid);
  }

  blocks(podUid: PodUid, container: string): readonly MemoryBlock[] | undefined {
    return this.held.get(podUid)?.get(container);
  }

  /**
   * Resolves when the state is on disk. If the write fails, rejects, and the pod keeps its earlier memory.
   * @param whole the memory of the pod as a whole, of which the containers' is a part
   */
  async hold(
    podUid: PodUid,
    containers: ReadonlyMap<string, readonly MemoryBlock[]>,
    whole?: readonly MemoryBlock[],
  ): Promise<void> {
    const before = this.held.get(podUid);
    if (whole !== undefined) this.pods.set(podUid, whole);
    const now = new Map([...(before ?? []), ...containers]);
    this.held.set(podUid, now);
    try {
      await this.file.written();
    } catch (error) {
      // Unless the pod was released meanwhile.
      if (this.held.get(podUid) === now) {
        if (whole !== undefined) this.pods.delete(podUid);
        if (before === undefined) this.held.delete(podUid);
        else this.held.set(podUid, before);
      }
      throw error;
    }
  }

  release(podUid: PodUid): void {
    this.pods.delete(podUid);
    if (this.held.delete(podUid)) void this.file.request();
  }

  async flush(): Promise<void> {
    await this.file.settled();
  }

  /** Memory taken from the machine: of a pod as a whole, or else of its containers. */
  private taken(): MemoryAssignments {
    if (this.pods.size === 0) return this.held;
    return new Map(
      [...this.held].map(([uid, containers]) => {
        const whole = this.pods.get(uid);
        return [uid, whole === undefined ? containers : new Map([["", whole]])] as const;
      }),
    );
  }
}

/** The assignments that the machine cannot satisfy; undefined: it satisfies all. */
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
