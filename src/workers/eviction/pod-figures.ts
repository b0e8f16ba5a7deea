// What pods take: memory and processes from their cgroups, at once; disk from main's walks and the runtime, which take a while.
// What is not known of a pod is undefined, never 0.
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { EvictionPod, EvictionUpcalls, PodDiskUsage } from "../../shared/contracts/eviction.js";
import type { CgroupReader } from "../../shared/stats/cgroup-figures.js";
import type { PodCgroups } from "../../shared/stats/pod-cgroups.js";
import type { Layers } from "./pod-storage.js";
import type { RepeatedErrorLog } from "./repeated-error-log.js";
import type { WritableLayers } from "./writable-layers.js";

/** For the message of an order: it goes without when main is slow. */
const NAMES_WAIT_MS = 300;
/** Beside the time main takes for walks. */
const CALL_WAIT_MS = 1000;

export interface PodFiguresParts {
  reader: Pick<CgroupReader, "memory" | "processes" | "children">;
  cgroups: Pick<PodCgroups, "pathOf">;
  layers: Pick<WritableLayers, "now" | "known">;
  /** Main, with a deadline in ms. */
  main: (deadlineMs: number) => Pick<EvictionUpcalls, "podDisks" | "runningContainers">;
  errorLog: RepeatedErrorLog;
}

export class PodFigures {
  private readonly disks = new Map<string, PodDiskUsage>();

  constructor(private readonly parts: PodFiguresParts) {}

  /** Bytes; a pod without a cgroup takes none. */
  memoryOf(pod: EvictionPod): number {
    const path = this.parts.cgroups.pathOf(pod);
    return (path === undefined ? undefined : this.parts.reader.memory(path)?.workingSet) ?? 0;
  }

  /** In the pod's cgroup and those below. */
  processesOf(pod: EvictionPod): number {
    const path = this.parts.cgroups.pathOf(pod);
    return path === undefined ? 0 : this.processesBelow(path);
  }

  /** Bytes of each container, by name; empty when main does not say in time which is which. */
  async containersMemory(pod: EvictionPod): Promise<Map<string, number>> {
    const path = this.parts.cgroups.pathOf(pod);
    const memory = new Map<string, number>();
    if (path === undefined) return memory;
    const running = await this.parts
      .main(NAMES_WAIT_MS)
      .runningContainers(pod.uid)
      .catch(() => []);
    const children = this.parts.reader.children(path);
    for (const { name, id } of running) {
      const child = children.find((each) => each.includes(id));
      const figures = child === undefined ? undefined : this.parts.reader.memory(`${path}/${child}`);
      if (figures !== undefined) memory.set(name, figures.workingSet);
    }
    return memory;
  }

  /**
   * Brings the disk figures of these pods up to date as far as that goes within the time. Never rejects.
   * @param layers are the runtime's figures wanted, too?
   */
  async measure(uids: readonly string[], maxAgeMs: number, withinMs: number, layers: boolean): Promise<void> {
    const walks = async (): Promise<void> => {
      const key = "pod disks";
      const { main, errorLog } = this.parts;
      try {
        const found = await main(withinMs + CALL_WAIT_MS).podDisks([...uids], maxAgeMs, withinMs);
        for (const disk of found) this.disks.set(disk.uid, disk);
        errorLog.resolved(key, "measuring the pods' disk usage succeeded again");
      } catch (error) {
        errorLog.report(key, "cannot measure the pods' disk usage; using the last values", error);
      }
    };
    await Promise.all([walks(), layers ? this.parts.layers.now() : undefined]);
  }

  diskOf(pod: EvictionPod): PodDiskUsage | undefined {
    return this.disks.get(pod.uid);
  }

  layersOf(pod: EvictionPod): Layers | undefined {
    return this.parts.layers.known.get(pod.uid);
  }

  /** Bytes in the pod's volumes that are in memory, by name. */
  async inMemory(pod: EvictionPod): Promise<Map<string, number>> {
    const used = new Map<string, number>();
    for (const { name, path, memory } of pod.volumes) {
      const bytes = memory ? await bytesInMemory(path) : undefined;
      if (bytes !== undefined) used.set(name, bytes);
    }
    return used;
  }

  forget(uid: string): void {
    this.disks.delete(uid);
  }

  private processesBelow(path: string): number {
    const { reader } = this.parts;
    return reader
      .children(path)
      .reduce((sum, child) => sum + this.processesBelow(`${path}/${child}`), reader.processes(path).length);
  }
}

/** undefined: nothing is mounted there, and what statfs says is of another file system. */
async function bytesInMemory(path: string): Promise<number | undefined> {
  try {
    const [inside, outside] = await Promise.all([stat(path), stat(dirname(path))]);
    if (inside.dev === outside.dev) return undefined;
    const { bsize, blocks, bfree } = await statfs(path);
    return (blocks - bfree) * bsize;
  } catch {
    // The volume is not set up yet, or gone.
    return undefined;
  }
}
