// The resources allocated to each pod, and those last actuated in its containers: the two states that outlive the
// kubelet (files allocated_pods_state and actuated_pods_state below the root directory).
// Invariant: a pod may use its allocation; its spec is only the desire. An allocation is written before its actuated
// resources, so that another kubelet never assumes more than was allocated. The change of a resize is written at once.
// Allocations that equal the spec are gathered for a moment before they are written. A kubelet that does not read them
// allocates the same and actuates it once more.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Clock, Timer } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { LatestWrite } from "../../../shared/io/fs/latest-write.js";
import { readState, removeLeftovers } from "../../../shared/io/fs/state-file.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { PodResources } from "../../model/pod-resources.js";
import { type Actuated, encodeCheckpoint, decodeCheckpoint } from "./checkpoint.js";

/** So long what need not be on disk at once waits for more of its kind. */
const GATHER_MS = 500;

export class Allocations {
  private readonly allocatedPods = new Map<PodUid, PodResources>();
  /** Changed in place: a pod may have ten thousand containers, and each start of one changes an entry. */
  private readonly actuatedPods = new Map<PodUid, Actuated>();
  private readonly files: LatestWrite;
  /** Files that are not as the states are. */
  private readonly unwritten = new Set<State>();
  private gathering: Timer | undefined;

  constructor(
    private readonly rootDir: string,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.files = new LatestWrite({
      write: () => this.write(),
      failed: (error) =>
        log.error(
          { err: error },
          `cannot write the allocated resources of pods below ${rootDir}: ${errorText(error)}; pods keep running, but a restarted ` +
            `kubelet will not know of resizes until writing succeeds`,
        ),
    });
  }

  /** Reads the state of the previous kubelet process; a damaged file is set aside with a warning. */
  async load(): Promise<void> {
    await removeLeftovers(this.path("allocated"));
    await Promise.all([this.read("allocated", this.allocatedPods), this.read("actuated", this.actuatedPods)]);
  }

  /** Pods that have an allocation. */
  allocatedUids(): Iterable<PodUid> {
    return this.allocatedPods.keys();
  }

  allocated(uid: PodUid): PodResources | undefined {
    return this.allocatedPods.get(uid);
  }

  actuated(uid: PodUid): PodResources | undefined {
    return this.actuatedPods.get(uid);
  }

  allocate(uid: PodUid, resources: PodResources): void {
    const known = this.allocatedPods.get(uid);
    if (isDeepStrictEqual(known, resources)) return;
    this.allocatedPods.set(uid, resources);
    this.save(["allocated"], known !== undefined);
  }

  /** These containers run with `resources`, and with `podToo` the pod as a whole, too. */
  actuate(uid: PodUid, names: readonly string[], resources: PodResources, podToo: boolean): void {
    const known = this.actuatedPods.get(uid);
    const now: Actuated = known ?? { containers: {} };
    const pod = podToo || known === undefined ? resources.pod : known.pod;
    const samePod = isDeepStrictEqual(now.pod, pod);
    const changed = names.filter((name) => !isDeepStrictEqual(now.containers[name], resources.containers[name] ?? {}));
    if (known !== undefined && samePod && changed.length === 0) return;
    const first = names.every((name) => now.containers[name] === undefined);
    for (const name of changed) now.containers[name] = resources.containers[name] ?? {};
    if (pod === undefined) delete now.pod;
    else now.pod = pod;
    this.actuatedPods.set(uid, now);
    this.save(["actuated"], !first || (known !== undefined && !samePod));
  }

  forget(uid: PodUid): void {
    const states: State[] = [];
    if (this.allocatedPods.delete(uid)) states.push("allocated");
    if (this.actuatedPods.delete(uid)) states.push("actuated");
    if (states.length > 0) this.save(states, false);
  }

  /**
   * No container of other pods ran since the machine booted: they have no actuated resources. Their allocations stay.
   */
  keepActuated(uids: ReadonlySet<PodUid>): void {
    for (const uid of [...this.actuatedPods.keys()]) {
      if (!uids.has(uid) && this.actuatedPods.delete(uid)) this.save(["actuated"], false);
    }
  }

  /** Forgets all other pods. Only when every source has delivered: a pod that comes later is admitted again. */
  keepOnly(isKnown: (uid: PodUid) => boolean): void {
    for (const uid of [...this.allocatedPods.keys(), ...this.actuatedPods.keys()]) {
      if (!isKnown(uid)) this.forget(uid);
    }
  }

  /** Writes the gathered changes: the pod's spec is about to desire other resources. */
  writeNow(): void {
    if (this.gathering === undefined) return;
    this.gathering.cancel();
    this.gathering = undefined;
    void this.files.request();
  }

  /** Resolves when the files are as the states are, or could not be written. */
  async flush(): Promise<void> {
    this.writeNow();
    await this.files.settled();
  }

  private save(states: readonly State[], now: boolean): void {
    for (const state of states) this.unwritten.add(state);
    this.gathering ??= this.clock.after(GATHER_MS, () => this.writeNow()).unref();
    if (now) this.writeNow();
  }

  private async write(): Promise<void> {
    const states = { allocated: this.allocatedPods, actuated: this.actuatedPods };
    for (const which of ["allocated", "actuated"] as const) {
      if (!this.unwritten.delete(which)) continue;
      try {
        await atomicWrite(this.path(which), JSON.stringify(encodeCheckpoint(states[which])));
      } catch (error) {
        this.unwritten.add(which);
        throw error;
      }
    }
  }

  private async read(which: State, into: Map<PodUid, Actuated>): Promise<void> {
    const { clock, log } = this;
    const path = this.path(which);
    try {
      const entries = await readState(path, decodeCheckpoint, { clock, log });
      for (const [uid, resources] of entries ?? []) into.set(uid, resources);
    } catch (error) {
      log.warn({ path, err: error }, `${path} can't be read: ${errorText(error)}; starting without it`);
    }
  }

  private path(which: State): string {
    return join(this.rootDir, `${which}_pods_state`);
  }
}

type State = "allocated" | "actuated";
