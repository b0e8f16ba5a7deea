// What is allocated to each pod, and what its containers were last given: the two states that outlive the agent (files
// allocated_pods_state and actuated_pods_state below the root directory).
// What must hold: the allocation is the truth of what a pod may use, its definition only the wish; an allocation is
// written before what was actuated of it, so that another agent never takes more for given than was promised.
import { LatestWrite } from "../../../shared/fs/latest-write.js";
import { join } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import { atomicWrite } from "../../../shared/fs/atomic-write.js";
import { readState, removeLeftovers } from "../../../shared/fs/state-file.js";
import { errorText } from "../../../shared/log/error-text.js";
import type { Logger } from "../../../shared/log/logger.js";
import { decodeCheckpoint, encodeCheckpoint } from "./checkpoint.js";
import type { PodResources } from "./pod-resources.js";

/** No pod outlives the machine, and after a restart of it every pod is admitted anew. */
const NOT_DURABLE = { durable: false };

export class Allocations {
  private readonly allocatedPods = new Map<string, PodResources>();
  private readonly actuatedPods = new Map<string, PodResources>();
  private readonly files: LatestWrite;

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
          `the resources of pods can't be written below ${rootDir}: ${errorText(error)}; pods go on, but a restart of ` +
            `the agent will not know of resizes until this works again`,
        ),
    });
  }

  /** Reads what an earlier agent left; garbage is set aside with a warning. */
  async load(): Promise<void> {
    await removeLeftovers(this.path("allocated"));
    await Promise.all([this.read("allocated", this.allocatedPods), this.read("actuated", this.actuatedPods)]);
  }

  allocated(uid: string): PodResources | undefined {
    return this.allocatedPods.get(uid);
  }

  actuated(uid: string): PodResources | undefined {
    return this.actuatedPods.get(uid);
  }

  allocate(uid: string, resources: PodResources): void {
    this.allocatedPods.set(uid, resources);
    this.save();
  }

  /** These containers have what `resources` gives them, and with `podToo` so has the pod as a whole. */
  actuate(uid: string, names: readonly string[], resources: PodResources, podToo: boolean): void {
    const known = this.actuatedPods.get(uid);
    const own = Object.fromEntries(names.map((name) => [name, resources.containers[name] ?? {}]));
    const pod = podToo || known === undefined ? resources.pod : known.pod;
    this.actuatedPods.set(uid, { containers: { ...known?.containers, ...own }, ...(pod !== undefined && { pod }) });
    this.save();
  }

  forget(uid: string): void {
    const known = this.allocatedPods.delete(uid);
    if (this.actuatedPods.delete(uid) || known) this.save();
  }

  /** What is kept of other pods is of an earlier boot, or of no pod at all. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of [...this.allocatedPods.keys(), ...this.actuatedPods.keys()]) {
      if (!uids.has(uid)) this.forget(uid);
    }
  }

  /** Resolves when the files are as the states are, or could not be written. */
  async flush(): Promise<void> {
    await this.files.settled();
  }

  private save(): void {
    void this.files.request();
  }

  private async write(): Promise<void> {
    const files = [
      [this.path("allocated"), encodeCheckpoint(this.allocatedPods)],
      [this.path("actuated"), encodeCheckpoint(this.actuatedPods)],
    ] as const;
    for (const [path, checkpoint] of files) await atomicWrite(path, JSON.stringify(checkpoint), NOT_DURABLE);
  }

  private async read(which: State, into: Map<string, PodResources>): Promise<void> {
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
